//! `/api/v1/findings`: what needs attention. `/api/v1/checks`: the checks that find it.

use crate::app::App;
use crate::error::{Error, Result};
use crate::nodes::{self, Others};
use format::percent::Form;
use insight::{CheckAbout, Finding, FindingState, read_moment};
use serde_json::{Value, json};
use std::time::Duration;
use telemetry::{Event, Millis};
use tokio::sync::oneshot;
use tokio::time::timeout;

/// How long a caller waits for a look that was asked for.
const LOOK_TIMEOUT: Duration = Duration::from_secs(5);
/// The states that are listed unless others are asked for.
const SHOWN: [FindingState; 2] = [FindingState::Pending, FindingState::Open];

/// The findings that are pending or open, or are in the states of the query; with `from` and `to` those of that time. Those of these other
/// nodes, too.
pub(super) async fn list(app: &App, query: &str, others: Option<&Others>, event: &mut Event) -> Result<Value> {
    let findings = here(app, query).await?;
    Ok(match others {
        Some(others) => nodes::findings::of_all(others, findings, query, event).await,
        None => json!({ "findings": findings.iter().map(Finding::json).collect::<Vec<_>>() }),
    })
}

/// The findings of this node.
pub(super) async fn here(app: &App, query: &str) -> Result<Vec<Finding>> {
    let asked = Asked::read(query, app.clock.now())?;
    look(app).await;
    let findings = match asked.time {
        None => app.findings.list(&asked.states),
        Some((from, to)) => {
            let mut findings = app.findings.history(from, to, app.clock.now());
            findings.retain(|finding| asked.any || asked.states.contains(&finding.state));
            findings
        }
    };
    Ok(findings)
}

/// The checks, and how many of them can say something now.
pub(super) async fn checks(app: &App) -> Value {
    look(app).await;
    let overview = app.findings.overview();
    let needs = app.findings.list(&[FindingState::Unknown]);
    let check = |about: CheckAbout| {
        let needs = needs.iter().find(|finding| finding.key == about.key).map(|finding| finding.sentence.clone());
        json!({
            "key": about.key, "kind": about.kind.as_str(), "about": about.about, "when": about.when, "unless": about.unless,
            "after_s": about.after.as_secs(), "keeps_s": about.keeps.as_secs(), "needs": needs,
        })
    };
    json!({
        "checks": insight::check_list().map(check).collect::<Vec<_>>(), "all": overview.checks, "able": overview.able,
        "all_able": overview.all_able.map(|at| at.to_string()),
    })
}

/// Waits for a look that was asked for.
pub(super) async fn look(app: &App) {
    let (looked, wait) = oneshot::channel::<()>();
    // The wait ends when the sender is dropped, too.
    app.findings.looked(move || drop(looked));
    // The thread may have ended.
    let _ = timeout(LOOK_TIMEOUT, wait).await;
}

/// The parameters of a query.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    states: Vec<FindingState>,
    time: Option<(Millis, Millis)>,
    /// The query names no state, so that a time has the findings of any.
    any: bool,
}

impl Asked {
    fn read(query: &str, now: Millis) -> Result<Self> {
        let text = |name: &str| Form(query).value(name).filter(|value| !value.is_empty());
        let states =
            text("state").map(|states| states.split(',').map(state).collect::<Result<Vec<_>>>()).transpose()?;
        let moment = |name: &str| -> Result<Option<Millis>> {
            let read = text(name).map(|text| read_moment(&text, now));
            read.transpose().map_err(|why| Error::Input(format!("`{name}`: {why}")))
        };
        let time = match (moment("from")?, moment("to")?) {
            (None, None) => None,
            (None, Some(_)) => return Err(Error::Input("`to` needs `from`".to_owned())),
            (Some(from), to) => Some((from, to.unwrap_or(now))),
        };
        if time.is_some_and(|(from, to)| from > to) {
            return Err(Error::Input("`from` is after `to`".to_owned()));
        }
        let any = states.is_none();
        Ok(Self { states: states.unwrap_or_else(|| SHOWN.to_vec()), time, any })
    }
}

fn state(text: &str) -> Result<FindingState> {
    FindingState::ALL.iter().copied().find(|state| state.as_str() == text).ok_or_else(|| {
        let known = FindingState::ALL.iter().map(|state| state.as_str()).collect::<Vec<_>>().join("`, `");
        Error::Input(format!("`{}` is no state of a finding; there are `{known}`", Event::text(text)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_names_states_and_a_time() {
        let now = Millis(1_793_534_400_000);
        let read = |query: &str| Asked::read(query, now).map_err(|error| error.to_string());
        assert_eq!(read(""), Ok(Asked { states: SHOWN.to_vec(), time: None, any: true }));
        let asked = read("state=closed,muted&from=-2h&to=-1h").unwrap();
        assert_eq!((asked.states, asked.any), (vec![FindingState::Closed, FindingState::Muted], false));
        assert_eq!(asked.time, Some((Millis(now.0 - 7_200_000), Millis(now.0 - 3_600_000))));
        assert_eq!(read("from=2026-11-01").unwrap().time.unwrap().1, now, "to the present");
        for (query, part) in [
            (
                "state=opne",
                "`opne` is no state of a finding; there are `unknown`, `pending`, `open`, `closed`, `muted`",
            ),
            ("to=-1h", "`to` needs `from`"),
            ("from=-1h&to=-2h", "`from` is after `to`"),
            ("from=yesterday", "`from`: `yesterday` is no moment: write `now`, a time before now"),
        ] {
            let said = read(query).unwrap_err();
            assert!(said.contains(part), "{query}: {said}");
        }
    }
}
