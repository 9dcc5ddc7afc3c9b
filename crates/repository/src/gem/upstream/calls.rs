//! Answers for programs about one gem of an upstream, from the lines of its `/info`. Facts that the lines lack are
//! null.

use crate::error::Error;
use crate::gem::Found;
use crate::gem::describe::one;
use crate::gem::parameters;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::info_rows::InfoRow;
use crate::index::document::Index;
use crate::parameters::Parameters;
use crate::visible::{next_change, visible};
use crate::workers::aside;
use format::gem::call::{Call, Form};
use format::gem::{document, json, upstream};
use serde_json::Value;
use store::Lane;
use telemetry::{Event, Millis, Op};

/// Fields that no line has.
const UNKNOWN: [&str; 7] = ["authors", "info", "licenses", "description", "summary", "built_at", "requirements"];
/// Fields that only some lines have.
const MAY_BE_UNKNOWN: [&str; 3] = ["sha", "created_at", "version_created_at"];

impl RemoteGems<'_> {
    /// Answers a program.
    pub(crate) async fn call(
        self,
        call: Call<'_>,
        form: Form,
        asked: &Parameters<'_>,
        event: &mut Event,
    ) -> Result<Found, Error> {
        let ask = parameters::describe(call, form, asked, self.now())?;
        let name = match call {
            Call::Gem(name) | Call::Versions(name) | Call::Latest(name) | Call::Version(name, _) => name,
            Call::Search | Call::Autocomplete => return self.search(ask, event).await,
            Call::Owners(_) | Call::OwnGems => return Err(self.unsupported("know who owns a gem: ask its upstream")),
            _ => return Err(self.unsupported("list new gems: ask the upstream")),
        };
        let rows = match self.whole_info(name, event).await {
            Err(Error::NoSuchPackage | Error::Hidden(_)) => return Err(Error::NoSuchGem),
            versions => versions?.rows,
        };
        let (repository, now) = (self.remote.repository.clone(), self.now());
        let (fresh_until, count) = (next_change(&rows, repository.view(now)), rows.len());
        let render = move || {
            let seen = visible(&rows, repository.view(now)).filter_map(|seen| published(seen.entry()));
            let mut told = one(&ask.what, seen.collect(), &ask.base)?;
            match &mut told {
                Value::Array(all) => all.iter_mut().for_each(leave_out_unknown),
                one => leave_out_unknown(one),
            }
            Ok::<_, Error>(document::render(&told, form))
        };
        let made = aside(&self.context.workers, Lane::Index, Op::IndexRender, count, event, render).await?;
        Ok(Found::Document(Index { fresh_until, ..Index::of(made) }, form))
    }
}

impl RemoteGems<'_> {
    /// The visible versions of a gem, by their tokens, and when others become visible.
    pub(crate) async fn told(self, name: &str, event: &mut Event) -> Result<Told, Error> {
        let rows = match self.whole_info(name, event).await {
            Err(Error::NoSuchPackage | Error::Hidden(_)) => return Err(Error::NoSuchGem),
            versions => versions?.rows,
        };
        let view = self.remote.repository.view(self.now());
        let told = visible(&rows, view).filter_map(|seen| published(seen.entry()));
        Ok(Told { versions: told.collect(), until: next_change(&rows, view) })
    }
}

/// The facts in the lines of a gem.
pub(crate) struct Told {
    pub(crate) versions: Vec<json::Published>,
    pub(crate) until: Option<Millis>,
}

/// A version from its line; `None`: its number or its dependencies cannot be parsed. If the line has no date, the date is the one from which
/// its age is counted: the cooldowns of Dependabot and Renovate need one (Dependabot fails without, Renovate 44 never offers the version).
fn published(row: &InfoRow) -> Option<json::Published> {
    let package = upstream::package(&row.name, &row.line)?;
    let sha256 = row.checksum.map(|checksum| store::Digest(checksum.0).to_string()).unwrap_or_default();
    let at = row.created_at.map_or_else(|| row.moment(), |seconds| Millis(seconds.saturating_mul(1000)));
    let at = if at == Millis(0) { String::new() } else { at.to_string() };
    Some(json::Published { package, sha256, at })
}

pub(crate) fn leave_out_unknown(told: &mut Value) {
    let Value::Object(told) = told else { return };
    let unknown = |key: &str, value: &Value| {
        UNKNOWN.contains(&key) || MAY_BE_UNKNOWN.contains(&key) && value.as_str().is_some_and(str::is_empty)
    };
    told.iter_mut().filter(|(key, value)| unknown(key, value)).for_each(|(_, value)| *value = Value::Null);
}
