//! `/info/NAME` of a group: that of the owner of the name.

use crate::content::soonest;
use crate::error::{Error, Result};
use crate::gem::group::GroupGems;
use crate::gem::group::members::KnownMembers;
use crate::gem::indexes::view_log::{Md5OfInfo, ToSay};
use crate::index::document::Index;
use format::gem::info::render;
use format::gem::upstream::Info;
use std::collections::HashSet;
use telemetry::Event;

impl GroupGems<'_> {
    /// `/info/NAME`. A name that a member lists has one even if its owner has no version, because Bundler leaves the
    /// compact index if a name in `/versions` has no `/info`.
    pub(crate) async fn info(self, name: &str, event: &mut Event) -> Result<Index> {
        let owners = self.owners_told(name, event).await?;
        let before = match owners.len() {
            0 | 1 => None,
            _ => KnownMembers::of_names(self, [name], event).await?.says(name),
        };
        let mut bodies = Vec::new();
        for place in &owners {
            let member = self.member(&self.leaves()[*place]);
            let body = member.source().info(name, event).await;
            self.tell_asked(*place, &body, event);
            match body {
                Ok(body) => bodies.push(body),
                Err(Error::NoSuchPackage) => {}
                Err(error) => return Err(error),
            }
        }
        let mut bodies = bodies.into_iter();
        let Some(mut first) = bodies.next() else {
            return match self.is_listed(name, event).await? {
                true => Ok(Index::of(render([""; 0]))),
                false => Err(Error::NoSuchPackage),
            };
        };
        let is_shared = !bodies.as_slice().is_empty();
        for other in bodies {
            first = joined(first, other)?;
        }
        if is_shared && self.local.is_logged() && first.freshness.is_none() {
            self.learn(name, &before, &first, event).await?;
        }
        Ok(first)
    }

    /// Stores the MD5 of a file that is joined from members that share a name, for its line in `/versions`, unless the
    /// members changed meanwhile.
    async fn learn(self, name: &str, before: &Option<ToSay>, made: &Index, event: &mut Event) -> Result<()> {
        let now = KnownMembers::of_names(self, [name], event).await?.says(name);
        let Some(ToSay { tokens, md5: Md5OfInfo::Unknown { basis, .. }, .. }) = &now else { return Ok(()) };
        let info = Info::read(made.pieces.concat().into()).map_err(|_| Error::GivenUp)?;
        let (made_of, said): (HashSet<&str>, HashSet<&str>) =
            (info.lines().map(|line| line.token).collect(), tokens.iter().map(String::as_str).collect());
        if now == *before && made_of == said {
            self.local.indexes.learned.learn(name, basis.clone(), made.md5.clone());
        }
        Ok(())
    }

    /// Whether clients may know the name from the group: a present or former member lists or listed it.
    async fn is_listed(self, name: &str, event: &mut Event) -> Result<bool> {
        if !KnownMembers::of_names(self, [name], event).await?.holders(name).is_empty() {
            return Ok(true);
        }
        Ok(self.local.is_logged() && self.log(event, |log, _| log.has(name)).await?.found)
    }
}

/// The lines of the first file, and those lines of the other whose versions the first lacks.
fn joined(first: Index, other: Index) -> Result<Index> {
    let read = |index: &Index| Info::read(index.pieces.concat().into()).map_err(|_| Error::GivenUp);
    let (one, two) = (read(&first)?, read(&other)?);
    let known: HashSet<&str> = one.lines().map(|line| line.token).collect();
    let lines = one.lines().chain(two.lines().filter(|line| !known.contains(line.token)));
    let body = render(lines.map(|line| line.text.to_owned()));
    let fresh_until = soonest(first.fresh_until, other.fresh_until);
    Ok(Index { fresh_until, freshness: first.freshness.or(other.freshness), ..Index::of(body) })
}
