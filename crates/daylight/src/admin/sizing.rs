//! `/api/v1/sizing`: how many of everything the traffic of a period needs.

use crate::app::App;
use crate::error::{Error, Result};
use crate::findings::gather;
use crate::lookup::ask_events::ask;
use format::percent::Form;
use insight::{SizingAsked, read_moment};
use serde_json::Value;
use store::Lane;
use telemetry::{Event, Millis, Op};

/// The period that is taken unless another is asked for: the last day.
const PERIOD: &str = "-24h";
/// The largest multiple of the traffic.
const TIMES_MAX: f64 = 100.0;

/// What the traffic needs, with the requests that have just ended. The question about the minutes counts among those of the token `caller`.
pub(super) async fn show(app: &App, query: &str, caller: u64, event: &mut Event) -> Result<Value> {
    let asked = read(query, app.clock.now())?;
    app.flush_sinks(event).await;
    gather::look(app).await;
    let counts = match asked.question() {
        Some(question) => Some(ask(app, caller, question, event).await?),
        None => None,
    };
    // Its queues take some milliseconds of a processor, which other requests of this core would wait for.
    let findings = app.findings.clone();
    let workers = app.repositories.workers();
    Ok(workers
        .run(Lane::Index, Op::EventsRead, event, move |()| findings.sizing(asked, counts.as_ref()).json())
        .await?)
}

fn read(query: &str, now: Millis) -> Result<SizingAsked> {
    let text = |name: &str| Form(query).value(name).filter(|value| !value.is_empty());
    let moment = |name: &str, usual: &str| {
        read_moment(&text(name).unwrap_or_else(|| usual.into()), now)
            .map_err(|why| Error::Input(format!("`{name}`: {why}")))
    };
    let (from, to) = (moment("from", PERIOD)?, moment("to", "now")?);
    if from >= to.min(now) {
        return Err(Error::Input("`from` must be before `to`, and before now".to_owned()));
    }
    let times = match text("times") {
        None => 2.0,
        Some(text) => {
            let times = text.parse().ok().filter(|times| (1.0..=TIMES_MAX).contains(times));
            times.ok_or_else(|| Error::Input("`times` must be a number from 1 to 100".to_owned()))?
        }
    };
    Ok(SizingAsked { from, to: to.min(now), now, times })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_ends_after_its_begin_and_the_multiple_has_limits() {
        let now = Millis(1_793_534_400_000);
        let read = |query: &str| read(query, now).map_err(|error| error.to_string());
        let asked = read("").unwrap();
        assert_eq!((asked.from, asked.to, asked.times), (Millis(now.0 - 86_400_000), now, 2.0));
        let asked = read("from=-7d&to=-1h&times=3.5").unwrap();
        assert_eq!((now.0 - asked.from.0, now.0 - asked.to.0, asked.times), (7 * 86_400_000, 3_600_000, 3.5));
        for (query, part) in [
            ("from=now", "`from` must be before `to`"),
            ("from=-1h&to=-2h", "`from` must be before `to`"),
            ("from=soon", "`from`: `soon` is no moment"),
            ("times=0", "from 1 to 100"),
            ("times=101", "from 1 to 100"),
            ("times=NaN", "from 1 to 100"),
            ("times=two", "from 1 to 100"),
        ] {
            let said = read(query).unwrap_err();
            assert!(said.contains(part), "{query}: {said}");
        }
    }
}
