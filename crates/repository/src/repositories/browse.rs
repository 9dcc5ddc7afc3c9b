//! One level of a repository. Of a group: the levels of its members together, each item with the members that answer for it.

use crate::browse::{Level, LevelItem, MemberItems};
use crate::error::{Error, Result};
use crate::face::Face;
use crate::formats::face;
use crate::group::is_hosted;
use crate::listed::PageRequest;
use crate::repositories::Repositories;
use crate::repository::Repository;
use std::collections::BTreeMap;
use std::sync::Arc;
use store::{RepositoryKind, Stamp};
use telemetry::Event;

impl Repositories {
    /// A part of the level at a path of a repository, which may be as of a moment: the children of a folder, or the one file at
    /// the path. No upstream is called.
    pub async fn browse(
        &self,
        repository: &Arc<Repository>,
        settings: &Stamp,
        part: PageRequest<'_>,
        event: &mut Event,
    ) -> Result<Level> {
        let part = PageRequest { path: part.path.trim_matches('/'), ..part };
        let level = match repository.record.kind {
            RepositoryKind::Group => self.level_of_group(repository, settings, part, event).await?,
            RepositoryKind::Hosted | RepositoryKind::Remote => {
                face!(repository.format, level(self.served(repository, settings), part, event).await)?
            }
        };
        if level.items.is_empty() && level.next.is_none() && part.after.is_empty() && !part.path.is_empty() {
            return Err(Error::NoSuchFile(part.path.to_owned()));
        }
        event.more_mut().sized(level.items.len());
        Ok(level)
    }

    async fn level_of_group(
        &self,
        group: &Arc<Repository>,
        settings: &Stamp,
        part: PageRequest<'_>,
        event: &mut Event,
    ) -> Result<Level> {
        let mut found: BTreeMap<String, Vec<(usize, LevelItem)>> = BTreeMap::new();
        let mut more = false;
        // Hosted members answer first.
        let mut order: Vec<usize> = (0..group.leaves.len()).collect();
        order.sort_by_key(|place| !is_hosted(&group.leaves[*place]));
        for place in order {
            let level = face!(group.format, level(self.served(&group.leaves[place], settings), part, event).await)?;
            more |= level.next.is_some();
            for item in level.items {
                found.entry(item.key.clone()).or_default().push((place, item));
            }
        }
        more |= found.len() > part.limit;
        let mut parts: Vec<MemberItems> = found.into_iter().take(part.limit).collect();
        face!(group.format, owned(self.served(group, settings), &mut parts, event).await)?;
        let next = parts.last().filter(|_| more).map(|(key, _)| key.clone());
        let items = parts.into_iter().filter_map(|(_, of_members)| joined(group, of_members)).collect();
        Ok(Level { items, next })
    }
}

/// One item of those of several members: the first visible one, with all members that have a visible one.
fn joined(group: &Repository, of_members: Vec<(usize, LevelItem)>) -> Option<LevelItem> {
    let seen = of_members.iter().any(|(_, item)| item.hidden.is_none());
    let mut all = of_members.into_iter().filter(|(_, item)| !seen || item.hidden.is_none());
    let (place, first) = all.next()?;
    let member = |place: usize| group.leaves[place].clone();
    let members = [place].into_iter().chain(all.map(|(place, _)| place)).map(member).collect();
    Some(LevelItem { members, ..first })
}
