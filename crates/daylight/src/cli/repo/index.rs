//! How the index of an upstream of gems stands, and accepting one that is held back.

use super::{REPOSITORIES, decode};
use crate::cli::api::Api;
use crate::cli::context::Context;
use crate::cli::failure::plain;
use format::percent::segment;
use serde::Deserialize;
use serde_json::json;

/// The index of an upstream, as the API tells it.
#[derive(Debug, Deserialize)]
pub(super) struct FollowedIndex {
    names: u64,
    looked_at: Option<String>,
    proven: Option<String>,
    failure: Option<String>,
    held_back: Option<HeldBack>,
}

/// An index that is not believed yet.
#[derive(Debug, Deserialize)]
struct HeldBack {
    names: u64,
    since: String,
    #[serde(default)]
    accepted: bool,
}

#[derive(Debug, Deserialize)]
struct Accepted {
    index: Option<FollowedIndex>,
}

impl FollowedIndex {
    /// Its lines, for the repository of this name.
    pub(super) fn lines(&self, name: &str) -> Vec<(&'static str, String)> {
        let moment = |at: &Option<String>| at.clone().unwrap_or_else(|| "not since the start".into());
        let (looked, proven) = (moment(&self.looked_at), moment(&self.proven));
        let held_back = self.held_back.as_ref().map(|HeldBack { names, since, accepted }| match accepted {
            false => {
                format!("{names} names are missing in it since {since}; `daylight repo accept-index {name}` accepts it")
            }
            true => format!("{names} names are missing in it since {since}; accepted, and used after the next check"),
        });
        vec![
            ("index names", self.names.to_string()),
            ("index checked", looked),
            ("index verified", proven),
            ("index error", self.failure.clone().unwrap_or_default()),
            ("index held back", held_back.unwrap_or_default()),
        ]
    }
}

/// Accepts an index that is held back.
pub(super) fn accept(api: &Api, name: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    let answer = api.post(&format!("{REPOSITORIES}/{}/accept-index", segment(name)), &json!({}))?;
    if api.print_json(&answer, context)? {
        return Ok(());
    }
    let index = decode::<Accepted>(answer)?.index;
    let name = plain(name);
    match index {
        Some(FollowedIndex { held_back: Some(_), failure, .. }) => {
            let why = failure.map(|why| format!(" ({})", plain(&why))).unwrap_or_default();
            writeln!(context.err, "accepted for `{name}`; it is used as soon as the upstream answers{why}")?;
        }
        _ => writeln!(context.err, "accepted: `{name}` uses the current index of its upstream")?,
    }
    Ok(())
}
