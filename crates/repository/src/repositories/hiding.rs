//! What an upload hides, and what hides it: of an artifact or a raw file that a hosted repository has, groups ask no upstream, and the
//! policy of a group may hide the new version.

use crate::error::Error;
use crate::group::{Group, is_hosted};
use crate::policy::hidden::Hidden;
use crate::policy::package_version::PackageVersion;
use crate::question::Ask;
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::tree::file::{File, Guarded, Provenance};
use std::collections::BTreeMap;
use std::sync::Arc;
use telemetry::Event;

/// A name that a first upload hides in a group.
#[derive(Debug)]
pub(crate) struct HiddenName {
    /// The name: `org.example:lamp`, or the path of a raw file.
    name: String,
    /// The hidden versions or the hidden file.
    what: &'static str,
    /// The group.
    group: Arc<Repository>,
    /// Its remote members that are known to have something of the name.
    known: Vec<Arc<Repository>>,
}

impl HiddenName {
    /// The notice for who uploads. Repositories that are private are named to administrators alone.
    pub(crate) fn notice(&self, is_admin: bool) -> String {
        let seen = |one: &&Arc<Repository>| is_admin || !one.record.private;
        let group = match Some(&self.group).filter(seen) {
            Some(group) => format!("the group `{}` asks", group.record.name),
            None => "a group asks".to_owned(),
        };
        let known: Vec<_> = self.known.iter().filter(seen).map(|one| format!("`{}`", one.record.name)).collect();
        let hides = match known.is_empty() {
            true => format!("and hides {} that upstreams may have", self.what),
            false => format!("and hides {} that {} has", self.what, known.join(" and ")),
        };
        format!("from now on {group} no upstream for `{}`, {hides}", self.name)
    }
}

impl Repositories {
    /// The name that an upload of `file` would hide in the first group for which it is the first of its artifact, where the group has
    /// remote members that it would be asked of.
    pub(crate) async fn hidden_by(
        &self,
        ask: &Ask<'_>,
        file: &File<'_>,
        event: &mut Event,
    ) -> Result<Option<HiddenName>, Error> {
        let Some(guarded) = file.guarded().next() else { return Ok(None) };
        let Some(name) = file.guarded_name(guarded) else { return Ok(None) };
        if file.provenance() != Some(Provenance::Uploaded) {
            return Ok(None);
        }
        let table = self.table(event).await?;
        let asks = |leaf: &&Arc<Repository>| !is_hosted(leaf) && !leaf.rules.shares(&name);
        let groups = table.groups_with(ask.repository.id).into_iter();
        for repository in groups.filter(|one| one.leaves.iter().any(|leaf| asks(&leaf))) {
            let group = self.group(repository, &ask.place);
            let mut is_first = true;
            for leaf in group.hosted() {
                let has = is_first && group.ever_had(leaf, guarded, self.clock.now(), event).await?;
                is_first &= !has;
            }
            if is_first {
                let mut known = Vec::new();
                for leaf in repository.leaves.iter().filter(asks) {
                    if self.is_known_to_have(leaf, guarded, event).await? {
                        known.push(Arc::clone(leaf));
                    }
                }
                let what = match guarded {
                    Guarded::Folder(_) => "the versions of that name",
                    // Nobody else has the path, as far as is known, so nothing is hidden.
                    Guarded::Path(_) if known.is_empty() => continue,
                    Guarded::Path(_) => "the file at that path",
                };
                return Ok(Some(HiddenName { name: name.to_string(), what, group: repository.clone(), known }));
            }
        }
        Ok(None)
    }

    /// Why clients do not get a version that is published in a hosted repository, and until when: the policies that hide it, of the
    /// repository and of its groups. `None`: clients get it. Repositories that are private are named to administrators alone.
    pub(crate) async fn unseen(
        &self,
        repository: &Repository,
        what: &PackageVersion<'_>,
        is_admin: bool,
        event: &mut Event,
    ) -> Result<Option<String>, Error> {
        let now = self.clock.now();
        if let Some(hidden) = repository.rules.hides(what, repository.view(now)) {
            return Ok(Some(format!("Nobody sees it yet: {hidden}")));
        }
        let table = self.table(event).await?;
        let named = |name: &str| is_admin || table.by_name.get(name).is_some_and(|one| !one.record.private);
        let mut unseen: BTreeMap<String, (Hidden, Vec<&str>)> = BTreeMap::new();
        for group in table.by_name.values() {
            let Some(leaf) = group.leaves.iter().find(|leaf| leaf.id == repository.id) else { continue };
            let Some(hidden) = leaf.rules.hides(what, leaf.view(now)) else { continue };
            unseen.entry(hidden.to_string()).or_insert((hidden, Vec::new())).1.push(&group.record.name);
        }
        let told = unseen.into_iter().map(|(text, (hidden, mut groups))| {
            groups.retain(|group| named(group));
            groups.sort_unstable();
            let text = if named(&hidden.repository) { text } else { hidden.unnamed() };
            let groups: Vec<_> = groups.iter().map(|group| format!("`{group}`")).collect();
            let through = if groups.is_empty() { "a group".to_owned() } else { groups.join(" and ") };
            let yet = if hidden.until().is_some() { " yet" } else { "" };
            format!("Clients of {through} do not see it{yet}: {text}")
        });
        Ok(Some(told.collect::<Vec<_>>().join("; ")).filter(|told| !told.is_empty()))
    }

    /// A group with what it needs to answer.
    pub(crate) fn group<'a>(
        &'a self,
        repository: &'a Arc<Repository>,
        place: &'a Arc<crate::waiters::Place>,
    ) -> Group<'a> {
        let (store, context, inventory) = (&*self.store, &self.context, &self.inventory);
        let (remotes, merging) = (&self.remotes, &self.merging);
        Group { store, context, inventory, remotes, merging, repository, place }
    }
}
