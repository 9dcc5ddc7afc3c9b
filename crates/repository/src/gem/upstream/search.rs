//! Looking for gems of an upstream by words in their names. Its index alone is read: no upstream is asked for what is found.

use crate::error::Error;
use crate::gem::describe::{COMPLETIONS, PAGE};
use crate::gem::program::{Describe, What};
use crate::gem::search;
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::calls::leave_out_unknown;
use crate::gem::upstream::listing::Listed;
use crate::gem::upstream::view::token_rows;
use crate::gem::{Found, versions};
use crate::index::document::Index;
use crate::policy::rules::View;
use crate::visible::visible;
use crate::workers::aside;
use format::gem::{document, json, upstream};
use serde_json::Value;
use store::Lane;
use telemetry::{Event, Op};

impl RemoteGems<'_> {
    /// The gems of a search, each by its newest version that may be seen, or the names that begin so.
    pub(crate) async fn search(self, ask: Describe, event: &mut Event) -> Result<Found, Error> {
        let Found::Index(names) = self.names(event).await? else { return Err(Error::GivenUp) };
        let (repository, now, end, form) = (self.remote.repository.clone(), self.now(), self.end()?, ask.form);
        let (fresh_until, rows) = (names.fresh_until, names.pieces.len() * versions::PAGE);
        let render = move || {
            let told = match &ask.what {
                What::Complete(beginning) => search::beginning(&names.pieces, beginning, COMPLETIONS).into(),
                What::Search(words, page) => {
                    let found = search::containing(&names.pieces, words, (page - 1) * PAGE, PAGE);
                    let listed = |name: &String| {
                        repository
                            .shared
                            .followed
                            .read(repository.origin, |known| known.listing.gem_by(name, end))
                            .flatten()
                    };
                    let gem = |name: &String| newest(name, &listed(name)?, repository.view(now), &ask.base);
                    found.iter().filter_map(gem).collect()
                }
                _ => return Err(Error::GivenUp),
            };
            Ok(document::render(&told, form))
        };
        let made = aside(&self.context.workers, Lane::Index, Op::IndexRender, rows, event, render).await?;
        Ok(Found::Document(Index { fresh_until, ..Index::of(made) }, form))
    }
}

/// A gem by the newest of its versions, as far as `/versions` tells of it. What it needs is in `/info`, which is not read for a search.
fn newest(name: &str, listed: &Listed, view: View<'_>, base: &str) -> Option<Value> {
    Some(briefly(json::latest(&listed_versions(name, listed, view))?, base))
}

/// A version of which nothing is known but what `/versions` tells.
pub(crate) fn briefly(version: &json::Published, base: &str) -> Value {
    let mut told = json::gem(version, base);
    leave_out_unknown(&mut told);
    told["dependencies"] = Value::Null;
    told
}

/// The versions that may be seen, as far as `/versions` tells of them.
pub(crate) fn listed_versions(name: &str, listed: &Listed, view: View<'_>) -> Vec<json::Published> {
    let rows = token_rows(name, listed);
    let published = |token: &str| {
        let package = upstream::package(name, token)?;
        Some(json::Published { package, sha256: String::new(), at: String::new() })
    };
    visible(&rows, view).filter_map(|seen| published(seen.entry().token)).collect()
}
