//! Searches for gems in a group. Names come from its `/names`, and facts about a gem from its owner. Lists of new gems
//! cover hosted members only, because upstreams have no such list.

use crate::actor::Actor;
use crate::error::Error;
use crate::gem::describe::{self, COMPLETIONS, PAGE, newest, own_names};
use crate::gem::group::members::KnownMembers;
use crate::gem::group::told::Depth;
use crate::gem::group::{GroupGems, Member};
use crate::gem::hosted::Hosted;
use crate::gem::program::{Describe, What};
use crate::gem::{Found, search, versions};
use crate::index::document::Index;
use crate::workers::aside;
use format::gem::{document, json};
use serde_json::Value;
use store::{Entry, Lane, Span};
use telemetry::{Event, Op};

/// Maximum number of newest versions of several hosted members. That many are read from each.
const NEWEST_MAX: usize = 3_000;

impl GroupGems<'_> {
    /// The gems that match a search, each described by its newest version, or the names with a prefix.
    pub(crate) async fn search(self, ask: Describe, event: &mut Event) -> Result<Found, Error> {
        let names = self.names(event).await?;
        let (fresh_until, rows, what) = (names.fresh_until, names.pieces.len() * versions::PAGE, ask.what.clone());
        let find = move || {
            Ok::<_, Error>(match &what {
                What::Complete(beginning) => search::beginning(&names.pieces, beginning, COMPLETIONS),
                What::Search(words, page) => search::containing(&names.pieces, words, (page - 1) * PAGE, PAGE),
                _ => Vec::new(),
            })
        };
        let found = aside(&self.local.context.workers, Lane::Index, Op::IndexRender, rows, event, find).await?;
        let told = match ask.what {
            What::Complete(_) => found.into(),
            _ => self.newest_of(found, &ask.base, event).await?,
        };
        let index = Index::of(document::render(&told, ask.form));
        Ok(Found::Document(Index { fresh_until, ..index }, ask.form))
    }

    /// The answers that come from hosted members alone: the gems of an owner, and new gems.
    pub(crate) async fn of_hosted(self, ask: Describe, by: Actor<'_>, event: &mut Event) -> Result<Found, Error> {
        let mut hosted: Vec<(usize, Hosted<'_>)> = Vec::new();
        for (place, leaf) in self.leaves().iter().enumerate() {
            if let Member::Hosted(member) = self.member(leaf)? {
                hosted.push((place, member));
            }
        }
        if hosted.is_empty() {
            let text = "this group has no hosted member, and upstreams do not list new gems or owners";
            return Err(Error::Unsupported(text.into()));
        }
        let told = match ask.what {
            What::Own => {
                let mut own = Vec::new();
                for (place, member) in hosted {
                    let names = own_names(member, by, event).await?;
                    let members = KnownMembers::of_names(self, names.iter().map(String::as_str), event).await?;
                    own.extend(names.into_iter().filter(|name| members.owners(name).contains(&place)));
                }
                own.sort_unstable();
                own.dedup();
                self.newest_of(own, &ask.base, event).await?
            }
            ref what => self.newest_versions(what, &hosted, &ask.base, event).await?,
        };
        Ok(Found::Document(Index::of(document::render(&told, ask.form)), ask.form))
    }

    /// The newest versions in hosted members, newest first.
    async fn newest_versions(
        self,
        what: &What,
        hosted: &[(usize, Hosted<'_>)],
        base: &str,
        event: &mut Event,
    ) -> Result<Value, Error> {
        let asked = describe::span(what);
        let (skip, limit) = (asked.skip, asked.skip + asked.limit);
        if limit > NEWEST_MAX {
            let text = format!("a group lists its newest {NEWEST_MAX} versions; ask a hosted member for more");
            return Err(Error::Unsupported(text));
        }
        let mut all: Vec<(Entry, json::Published)> = Vec::new();
        for (place, member) in hosted {
            let entries = match what {
                What::Newest => newest(*member, event).await?,
                _ => {
                    let span = Span { skip: 0, limit, ..asked };
                    member.store.published(member.repository.id, span, event).await?
                }
            };
            let members = KnownMembers::of_names(self, entries.iter().map(|entry| &*entry.unit), event).await?;
            let view = member.repository.view(self.now());
            for entry in entries.into_iter().filter(|entry| members.owners(&entry.unit).contains(place)) {
                let seen = describe::published(std::slice::from_ref(&entry), view)?.pop();
                all.extend(seen.map(|seen| (entry, seen)));
            }
        }
        all.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.published));
        Ok(all.iter().skip(skip).take(asked.limit).map(|(_, seen)| json::gem(seen, base)).collect())
    }

    /// These gems, each described by its newest version.
    async fn newest_of(self, names: Vec<String>, base: &str, event: &mut Event) -> Result<Value, Error> {
        let members = KnownMembers::of_names(self, names.iter().map(String::as_str), event).await?;
        let mut told = Vec::with_capacity(names.len());
        for name in &names {
            told.extend(self.told(name, &members.owners(name), Depth::Brief, event).await?.newest(base));
        }
        Ok(Value::Array(told))
    }
}
