//! Conformance mode: answers the calls that a conformance suite for gem servers makes and no client does. They set the time of day, and
//! rebuild `/versions`. The suite sends no token with them, so the mode works on loopback only.

pub(crate) mod call;

use crate::access::{Access, NewToken};
use crate::app::App;
use crate::config::{self, Settings};
use crate::error::{Error, Result};
use crate::findings::gather;
use crate::reply;
use anyhow::Context;
use call::ConformanceCall;
use format::gem::info::FormatVersion;
use front::{Reply, Request};
use repository::Scope;
use repository::{Author, Repositories};
use std::net::SocketAddr;
use telemetry::{Event, Layer, Millis};

/// The name of the token from `DAYLIGHT_CONFORMANCE_KEY`.
const KEY: &str = "conformance";
/// The time of day in a new folder until the suite sets it: 1980-01-01T00:00:00Z. The suite begins in 1990, and moments of the journal
/// never go back.
pub(crate) const BEGINNING: Millis = Millis(315_532_800_000);
/// Longest time in a body, in bytes.
const MOMENT_MAX: u64 = 64;

/// Refuses the mode where other machines could reach the server.
pub(crate) fn allow(settings: &Settings, address: SocketAddr) -> Result<(), config::Error> {
    if !settings.conformance || address.ip().is_loopback() {
        return Ok(());
    }
    Err(config::Error::Contradiction {
        text: format!(
            "`--conformance` lets anybody set the clock of the server, so it needs a loopback address, and `{address}` is none"
        ),
        hint: "add `--listen 127.0.0.1:8080`".to_owned(),
    })
}

/// The default format of `/info`. The suite knows only the older one.
pub(crate) fn info_format(conformance: bool) -> FormatVersion {
    if conformance { FormatVersion::V1 } else { FormatVersion::default() }
}

/// Makes the token of the suite, or revokes it if the mode has ended, and sets the format of `/info` that the suite knows.
pub(crate) async fn prepare(
    settings: &Settings,
    access: &Access,
    repositories: &Repositories,
    event: &mut Event,
) -> anyhow::Result<()> {
    let ours = |name: &str, owner: &str| name == KEY && owner == Author::DAYLIGHT;
    let tokens = access.table(event).await?.tokens();
    if tokens.iter().any(|token| ours(&token.record.name, &token.record.owner)) {
        access
            .revoke(KEY, Author::SERVER, event)
            .await
            .context("cannot revoke the key of the conformance mode before")?;
    }
    if settings.conformance {
        let known = repositories.table(event).await?;
        for name in known.by_name.values().filter(|one| one.format.has_info()).map(|one| &one.record.name) {
            repository::reform(repositories.services(), name, FormatVersion::V1, Author::SERVER, event).await?;
        }
    }
    let Some(key) = settings.conformance_key.as_ref().filter(|_| settings.conformance) else { return Ok(()) };
    if access.is_admin(key, event).await? {
        return Ok(());
    }
    let new = NewToken {
        name: KEY.into(),
        owner: Author::DAYLIGHT.into(),
        scopes: vec![Scope::Admin],
        ..NewToken::default()
    };
    access
        .create(new, Some(key.clone()), Author::SERVER, event)
        .await
        .context("cannot put the conformance key in force")?;
    Ok(())
}

/// Answers a call.
pub(crate) async fn answer(
    app: &App,
    call: ConformanceCall,
    repository: &str,
    request: &mut Request,
    event: &mut Event,
) -> Result<Reply> {
    event.layer = Layer::Admin;
    event.subject.kind = "conformance";
    if !app.conformance {
        return Err(Error::NoSuchRoute(Event::text(request.path())));
    }
    crate::access::refuse_cross_site(&request.headers)?;
    let (repository, _) = app.repositories.find(repository, event).await?;
    match call {
        ConformanceCall::SetTime | ConformanceCall::JumpTime => {
            let body = request.upload.collect(MOMENT_MAX, event).await?;
            let moment = moment(&body)?;
            // What was seen until now was seen now, and not at the new time.
            app.repositories.write_first_sights().await;
            // The findings of what was until now began now, and not at the new time.
            app.flush_sinks(event).await;
            gather::look(app).await;
            match call {
                ConformanceCall::JumpTime => app.clock.jump(moment),
                _ => app.clock.set(Some(moment)),
            }
            app.time_was_set.notify_one();
            gather::tell(app).await;
            app.findings.wake();
            app.recorder.machine().wake();
            app.repositories.wake_hints();
            Ok(reply::text(format!("The time is {moment}\n")))
        }
        ConformanceCall::RebuildVersions => {
            let (name, now) = (&repository.record.name, app.clock.now());
            repository::rebuild_versions(
                app.services(),
                name,
                now,
                Author::of_client(KEY, request.recorded_client),
                event,
            )
            .await?;
            Ok(reply::text(format!("/versions of {name} is rewritten, at {now}\n")))
        }
    }
}

/// Reads ISO 8601 as Ruby's `Time#iso8601` writes it.
fn moment(body: &[u8]) -> Result<Millis> {
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    let at: Option<jiff::Timestamp> = text.parse().ok();
    // 0 would set the clock to the time of the machine.
    let at = at.map(|at| at.as_millisecond()).filter(|at| *at != 0);
    at.map(Millis).ok_or_else(|| Error::Input(format!("`{}` is not a moment in ISO 8601", Event::text(text))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_read_as_ruby_writes_it() {
        assert_eq!(moment(b"1990-01-01T00:00:00Z").unwrap(), Millis(631_152_000_000));
        assert_eq!(moment(b"1990-01-01T01:00:00+01:00\n").unwrap(), Millis(631_152_000_000));
        for odd in [&b""[..], b"now", b"1990-01-01", b"\xff", b"1970-01-01T00:00:00Z"] {
            assert!(matches!(moment(odd), Err(Error::Input(_))), "{odd:?}");
        }
    }
}
