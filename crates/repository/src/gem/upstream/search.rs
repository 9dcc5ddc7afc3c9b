//! Searches an upstream's gems by words in their names. Only the index is read: no upstream is called for a match.

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
    /// The gems that match a search, each described by its newest visible version, or the names with a prefix.
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

/// A gem described by its newest version, from the facts in `/versions`. Its dependencies are in `/info`, which a
/// search does not read.
fn newest(name: &str, listed: &Listed, view: View<'_>, base: &str) -> Option<Value> {
    Some(briefly(json::latest(&listed_versions(name, listed, view))?, base))
}

/// A version with only the facts in `/versions`.
pub(crate) fn briefly(version: &json::Published, base: &str) -> Value {
    let mut told = json::gem(version, base);
    leave_out_unknown(&mut told);
    told["dependencies"] = Value::Null;
    told
}

/// The visible versions, with the facts in `/versions`.
pub(crate) fn listed_versions(name: &str, listed: &Listed, view: View<'_>) -> Vec<json::Published> {
    let rows = token_rows(name, listed);
    let published = |token: &str| {
        let package = upstream::package(name, token)?;
        Some(json::Published { package, sha256: String::new(), at: String::new() })
    };
    visible(&rows, view).filter_map(|seen| published(seen.entry().token)).collect()
}
