//! Conformance mode: what a conformance suite for gem servers asks besides what clients ask. It sets the time of day that
//! indexes tell, and has `/versions` begun anew. The suite shows no token for either, so this is for loopback alone.

use crate::access::{Access, NewToken};
use crate::app::App;
use crate::config::{self, Settings};
use crate::error::Error;
use crate::init::BY;
use crate::reply;
use anyhow::Context;
use format::gem::info::FormatVersion;
use front::{Reply, Request};
use repository::Repositories;
use repository::Scope;
use std::net::SocketAddr;
use telemetry::{Event, Layer, Millis};

/// The name of the token that `DAYLIGHT_CONFORMANCE_KEY` is.
const KEY: &str = "conformance";
/// Longest moment, in bytes.
const MOMENT_MAX: u64 = 64;

/// What a conformance suite asks for, below a repository's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// The time of day is what the body says.
    SetTime,
    /// The base of `/versions` is written anew.
    RebuildVersions,
}

impl Wish {
    /// What a path below a repository's root asks for, if anything.
    pub fn read(path: &str) -> Option<Self> {
        match path {
            "set_time" => Some(Wish::SetTime),
            "rebuild_versions_list" => Some(Wish::RebuildVersions),
            _ => None,
        }
    }
}

/// Refuses the mode where others than this machine could ask.
pub(crate) fn allow(settings: &Settings, address: SocketAddr) -> Result<(), config::Error> {
    if !settings.conformance || address.ip().is_loopback() {
        return Ok(());
    }
    Err(config::Error::Contradiction {
        text: format!("`--conformance` lets anybody set the time of day, and `{address}` is not on loopback"),
        hint: "serve on loopback for it: `--listen 127.0.0.1:8080`".to_owned(),
    })
}

/// What `/info` of a new repository tells where nobody says: the suite knows the older form.
pub(crate) fn info_format(conformance: bool) -> FormatVersion {
    if conformance { FormatVersion::V1 } else { FormatVersion::default() }
}

/// Puts the key in force, or out of force where the mode is over, and has every repository tell what the suite knows.
pub(crate) async fn prepare(
    settings: &Settings,
    access: &Access,
    repositories: &Repositories,
    event: &mut Event,
) -> anyhow::Result<()> {
    let ours = |name: &str, owner: &str| name == KEY && owner == BY;
    let tokens = access.table(event).await?.tokens();
    if tokens.iter().any(|token| ours(&token.record.name, &token.record.owner)) {
        access.revoke(KEY, BY, event).await.context("cannot revoke the key of the conformance mode before")?;
    }
    if settings.conformance {
        let known = repositories.known(event).await?;
        for name in known.by_name.values().filter(|one| one.format.has_info()).map(|one| &one.record.name) {
            repositories.reform(name, FormatVersion::V1, BY, event).await?;
        }
    }
    let Some(key) = settings.conformance_key.as_ref().filter(|_| settings.conformance) else { return Ok(()) };
    if access.is_admin(key, event).await? {
        return Ok(());
    }
    let new = NewToken { name: KEY.into(), owner: BY.into(), scopes: vec![Scope::Admin], ..NewToken::default() };
    access.create(new, Some(key.clone()), BY, event).await.context("cannot put the conformance key in force")?;
    Ok(())
}

/// Grants a wish.
pub(crate) async fn answer(
    app: &App,
    (wish, repository): (Wish, String),
    request: &mut Request,
    event: &mut Event,
) -> Result<Reply, Error> {
    event.layer = Layer::Admin;
    event.subject.kind = "conformance";
    if !app.conformance {
        return Err(Error::NoSuchRoute(Event::text(request.path())));
    }
    crate::access::refuse_cross_site(&request.headers)?;
    let (repository, _) = app.repositories.find(&repository, event).await?;
    match wish {
        Wish::SetTime => {
            let body = request.upload.collect(MOMENT_MAX, event).await?;
            let moment = moment(&body)?;
            app.clock.set(Some(moment));
            Ok(reply::text(format!("The time is {moment}\n")))
        }
        Wish::RebuildVersions => {
            let (name, now) = (&repository.record.name, app.clock.now());
            app.repositories.rebuild_versions(name, now, KEY, event).await?;
            Ok(reply::text(format!("/versions of {name} begins anew, at {now}\n")))
        }
    }
}

/// ISO 8601, as Ruby's `Time#iso8601` writes it.
fn moment(body: &[u8]) -> Result<Millis, Error> {
    let text = std::str::from_utf8(body).unwrap_or_default().trim();
    let at: Option<jiff::Timestamp> = text.parse().ok();
    // The clock takes 0 for the machine's own time.
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
