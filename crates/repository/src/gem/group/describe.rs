//! Answers of a group for programs. The owner of a gem's name answers about the gem; members that share the name answer
//! together. Lists of new gems cover hosted members only.

use crate::actor::Actor;
use crate::error::{Error, Result};
use crate::gem::Found;
use crate::gem::describe::{about_gem, document, newest, own_names, span};
use crate::gem::group::members::KnownMembers;
use crate::gem::group::{GroupGems, Member};
use crate::gem::hosted::Hosted;
use crate::gem::program::{Describe, What};
use crate::gem::rows::{Depth, GemRows, published};
use crate::gem::source::GemSource;
use format::gem::json;
use serde_json::Value;
use store::{Entry, Span};
use telemetry::Event;

/// Maximum number of newest versions of several hosted members. That many are read from each.
const NEWEST_MAX: usize = 3_000;

impl GroupGems<'_> {
    /// The versions of a gem in these members.
    pub(crate) async fn rows(
        self,
        name: &str,
        owners: &[usize],
        depth: Depth,
        event: &mut Event,
    ) -> Result<Vec<GemRows>> {
        let mut rows = Vec::with_capacity(owners.len());
        for place in owners {
            let member = self.member(&self.leaves()[*place]);
            rows.extend(member.source().rows(name, depth, event).await?);
        }
        Ok(rows)
    }

    /// The answer about a gem, from its owner or from the members that share it.
    pub(crate) async fn describe_gem(
        self,
        name: &str,
        ask: &Describe,
        by: Actor<'_>,
        event: &mut Event,
    ) -> Result<Found> {
        let owners = self.owners_told(name, event).await?;
        if owners.len() > 1 && ask.what.is_of_versions() {
            let rows = self.rows(name, &owners, Depth::Whole, event).await;
            owners.iter().for_each(|place| self.tell_asked(*place, &rows, event));
            return about_gem(self.local, rows?, ask, event).await;
        }
        let mut refusal = Error::NoSuchGem;
        for place in owners {
            let member = self.member(&self.leaves()[place]);
            let found = member.source().describe(ask, by, event).await;
            self.tell_asked(place, &found, event);
            match found {
                Err(error @ (Error::NoSuchGem | Error::NoSuchGemVersion)) => refusal = error,
                Err(Error::Unsupported(_)) if matches!(ask.what, What::Owners(_)) => {
                    return Err(Error::Unsupported(format!(
                        "`{name}` comes from an upstream of this group, which knows its owners: ask the upstream, `gem owner {name} --host URL`"
                    )));
                }
                found => return found,
            }
        }
        Err(refusal)
    }

    /// The answers that come from hosted members alone, because upstreams have no such lists: the gems of an owner, and
    /// new gems.
    pub(crate) async fn of_hosted(self, ask: &Describe, by: Actor<'_>, event: &mut Event) -> Result<Found> {
        let members: Vec<Member<'_>> = self.leaves().iter().map(|leaf| self.member(leaf)).collect();
        let hosted = members.iter().enumerate().filter(|(_, member)| member.upstream().is_none());
        let hosted: Vec<(usize, Hosted<'_>)> = hosted.map(|(place, member)| (place, member.local)).collect();
        if hosted.is_empty() {
            let text = "this group has no hosted member, and upstreams do not list new gems or owners";
            return Err(Error::Unsupported(text.into()));
        }
        if ask.what == What::Own {
            let mut own = Vec::new();
            for (place, member) in hosted {
                let names = own_names(member, by, event).await?;
                let members = KnownMembers::of_names(self, names.iter().map(String::as_str), event).await?;
                own.extend(names.into_iter().filter(|name| members.owners(name).contains(&place)));
            }
            own.sort_unstable();
            own.dedup();
            return GemSource::Group(self).gems(own, ask, None, event).await;
        }
        let told = self.newest_versions(&ask.what, &hosted, &ask.base, event).await?;
        document(self.local, 0, ask.form, None, event, move || Ok(told)).await
    }

    /// The newest versions in hosted members, newest first.
    async fn newest_versions(
        self,
        what: &What,
        hosted: &[(usize, Hosted<'_>)],
        base: &str,
        event: &mut Event,
    ) -> Result<Value> {
        let asked = span(what);
        let (skip, limit) = (asked.skip, asked.skip + asked.limit);
        if limit > NEWEST_MAX {
            let text = format!("a group lists its newest {NEWEST_MAX} versions; ask a hosted member for more");
            return Err(Error::Unsupported(text));
        }
        let mut all: Vec<(Entry, json::Published)> = Vec::new();
        for (place, member) in hosted {
            let entries = newest(*member, what, Span { skip: 0, limit, ..asked }, event).await?;
            let members = KnownMembers::of_names(self, entries.iter().map(|entry| &*entry.unit), event).await?;
            let view = member.repository.view(self.now());
            for entry in entries.into_iter().filter(|entry| members.owners(&entry.unit).contains(place)) {
                let seen = published(std::slice::from_ref(&entry), view)?.pop();
                all.extend(seen.map(|seen| (entry, seen)));
            }
        }
        all.sort_by_key(|(entry, _)| std::cmp::Reverse(entry.published));
        Ok(all.iter().skip(skip).take(asked.limit).map(|(_, seen)| json::gem(seen, base)).collect())
    }
}
