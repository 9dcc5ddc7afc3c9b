//! One level of a group: the levels of its members together, each item with the members that answer for it.

use crate::browse::{HiddenItem, Level, LevelItem};
use crate::error::Error;
use crate::gem::group::members::KnownMembers;
use crate::group::is_hosted;
use crate::listed::PageRequest;
use crate::package::listed::Among;
use crate::repositories::Repositories;
use crate::repository::Repository;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use store::Stamp;
use telemetry::Event;

impl Repositories {
    pub(crate) async fn level_of_group(
        &self,
        group: &Arc<Repository>,
        settings: &Stamp,
        part: PageRequest<'_>,
        event: &mut Event,
    ) -> Result<Level, Error> {
        let mut found: BTreeMap<String, Vec<(usize, LevelItem)>> = BTreeMap::new();
        let mut more = false;
        // Hosted members answer first.
        let mut order: Vec<usize> = (0..group.leaves.len()).collect();
        order.sort_by_key(|place| !is_hosted(&group.leaves[*place]));
        for place in order {
            let level = self.level_of_member(&group.leaves[place], settings, part, event).await?;
            more |= level.next.is_some();
            for item in level.items {
                found.entry(item.key.clone()).or_default().push((place, item));
            }
        }
        more |= found.len() > part.limit;
        let mut parts: Vec<(String, Vec<(usize, LevelItem)>)> = found.into_iter().take(part.limit).collect();
        match group.shared.gem.is_some() {
            true => self.leave_owners(group, &mut parts, event).await?,
            false => self.leave_guarded(group, &mut parts, event).await?,
        }
        let next = parts.last().filter(|_| more).map(|(key, _)| key.clone());
        let items = parts.into_iter().filter_map(|(_, of_members)| joined(group, of_members)).collect();
        Ok(Level { items, next })
    }

    /// Leaves of each gem only what its owners have: nobody else answers for the name.
    async fn leave_owners(
        &self,
        group: &Repository,
        parts: &mut Vec<(String, Vec<(usize, LevelItem)>)>,
        event: &mut Event,
    ) -> Result<(), Error> {
        let name = |items: &[(usize, LevelItem)]| items.first().and_then(|(_, item)| item.package.clone());
        let mut names: Vec<String> = parts.iter().filter_map(|(_, items)| name(items)).collect();
        names.dedup();
        let names = names.iter().map(String::as_str);
        let members =
            KnownMembers::of_these(&group.leaves, Among::All, &self.store, self.clock.now(), names, event).await?;
        let mut owners: HashMap<String, Vec<usize>> = HashMap::new();
        for (_, items) in &mut *parts {
            let Some(name) = name(items) else { continue };
            let owners = owners.entry(name).or_insert_with_key(|name| members.owners(name));
            items.retain(|(place, _)| owners.contains(place));
        }
        parts.retain(|(_, items)| !items.is_empty());
        Ok(())
    }

    /// Marks what upstreams have under a name that hosted members guard.
    async fn leave_guarded(
        &self,
        group: &Arc<Repository>,
        parts: &mut [(String, Vec<(usize, LevelItem)>)],
        event: &mut Event,
    ) -> Result<(), Error> {
        let place = Arc::default();
        let tools = self.group(group, &place);
        let mut guards = HashMap::new();
        for (_, items) in parts {
            for (place, item) in items.iter_mut().filter(|(place, _)| !is_hosted(&group.leaves[*place])) {
                let file = match path_in_package(item) {
                    Some(file) => file,
                    None if item.is_folder => continue,
                    None => item.path.clone(),
                };
                let key = (*place, file);
                let blocked = match guards.get(&key) {
                    Some(blocked) => *blocked,
                    None => {
                        let guard = tools.guard(&group.file(&key.1), self.clock.now(), event).await?;
                        let blocks = guard.blocks(&group.leaves[*place]);
                        *guards.entry(key).or_insert(blocks)
                    }
                };
                if blocked {
                    let what = item.package.as_deref().unwrap_or(&item.path);
                    let reason = format!("only hosted members of `{}` answer for `{what}`", group.record.name);
                    item.hidden = Some(HiddenItem { reason, until: None });
                }
            }
        }
        Ok(())
    }
}

/// A path of a file in the package of an item.
fn path_in_package(item: &LevelItem) -> Option<String> {
    let (group, artifact) = item.package.as_deref()?.split_once(':')?;
    Some(format!("{}/{artifact}/0/{artifact}-0.pom", group.replace('.', "/")))
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
