//! Versions of hosted members that a change of a group's settings would hide. A cooldown or a deny that is meant for upstreams also
//! applies to the releases of the house, so such a change is confirmed.

use crate::error::Result;
use crate::group::is_hosted;
use crate::policy::hidden_hosted::{HiddenHosted, NAMED};
use crate::record::{PolicyRecord, RepositoryRecord};
use crate::repository::{Repository, RepositoryTable};
use crate::services::{Services, list};
use crate::visible::{Row, shown};
use std::collections::BTreeMap;
use std::sync::Arc;
use store::RepositoryKind;
use telemetry::{Event, Millis};

/// Number of entries that one read of the store returns.
const PAGE: usize = 1_000;
/// What the settings of the group `name` in `after` hide of hosted members, compared with `before`. `None`: nothing, now or later.
pub async fn hidden_hosted(
    services: &Services,
    before: &RepositoryTable,
    after: &RepositoryTable,
    name: &str,
    event: &mut Event,
) -> Result<Option<HiddenHosted>> {
    let now = services.clock.now();
    let is_same = before.by_name.get(name).zip(after.by_name.get(name)).is_some_and(|(old, new)| same(old, new));
    if is_same || after.by_name.get(name).is_none_or(|one| one.record.kind != RepositoryKind::Group) {
        return Ok(None);
    }
    let mut groups: Vec<_> = after.by_name.values().filter(|one| one.record.kind == RepositoryKind::Group).collect();
    groups.sort_by(|one, other| one.record.name.cmp(&other.record.name));
    let mut found = HiddenHosted::default();
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for group in groups {
        for leaf in group.leaves.iter().filter(|leaf| is_hosted(leaf)) {
            let Some(was) = seen_before(before, group, leaf).filter(|was| was.rules != leaf.rules) else {
                continue;
            };
            let hidden = newly_hidden(services, was, leaf, now, &mut found.named, event).await?;
            let waits = leaf.rules.cooldown().filter(|cooldown| was.rules.cooldown().is_none_or(|was| was < *cooldown));
            if hidden == 0 && waits.is_none() {
                continue;
            }
            found.cooldown_ms = found.cooldown_ms.max(waits);
            // Through another group the same versions are hidden.
            let count = counts.entry(&leaf.record.name).or_default();
            *count = hidden.max(*count);
            let remotes = group.leaves.iter().filter(|leaf| !is_hosted(leaf)).map(|leaf| &leaf.record.name);
            for remote in remotes {
                if !found.remotes.contains(remote) {
                    found.remotes.push(remote.clone());
                }
            }
        }
    }
    found.versions = counts.values().sum();
    found.members = counts.into_keys().map(str::to_owned).collect();
    Ok(Some(found).filter(|found| !found.members.is_empty()))
}

/// The same for a repository that does not exist yet.
pub async fn hidden_by_new(
    services: &Services,
    record: &RepositoryRecord,
    event: &mut Event,
) -> Result<Option<HiddenHosted>> {
    let known = services.table(event).await?;
    if record.kind != RepositoryKind::Group || known.by_name.contains_key(&record.name) {
        return Ok(None);
    }
    let after = list::table_with(&services.room, &known, None, record.clone())?;
    hidden_hosted(services, &known, &after, &record.name, event).await
}

/// Counts the versions of a hosted repository that `was` shows and `leaf` hides, and names the first ones.
async fn newly_hidden(
    services: &Services,
    was: &Repository,
    leaf: &Repository,
    now: Millis,
    named: &mut Vec<String>,
    event: &mut Event,
) -> Result<u64> {
    let (mut count, mut after, mut last) = (0, String::new(), String::new());
    loop {
        let rows = services.store.live_entries_beginning(leaf.id, "", &after, PAGE, event).await?;
        for row in &rows {
            let Some(what) = row.coordinates(leaf.format) else { continue };
            let what = what.to_string();
            // The files of a version are next to each other.
            if what == last || shown(row, was.view(now)).is_err() || shown(row, leaf.view(now)).is_ok() {
                continue;
            }
            count += 1;
            if named.len() < NAMED && !named.contains(&what) {
                named.push(what.clone());
            }
            last = what;
        }
        match rows.last() {
            Some(row) if rows.len() == PAGE => after.clone_from(&row.key),
            _ => return Ok(count),
        }
    }
}

/// A hosted member as clients of the group saw it before; alone, if it was no member.
fn seen_before<'a>(before: &'a RepositoryTable, group: &Repository, leaf: &Repository) -> Option<&'a Arc<Repository>> {
    let through =
        before.by_name.get(&group.record.name).and_then(|was| was.leaves.iter().find(|was| was.id == leaf.id));
    through.or_else(|| before.by_name.get(&leaf.record.name))
}

/// Whether two states of a group have the same members and rules. Exceptions are made and withdrawn on purpose.
fn same(old: &Repository, new: &Repository) -> bool {
    let rules = |one: &Repository| {
        let policy = one.record.policy.as_deref().cloned().unwrap_or_default();
        PolicyRecord { exceptions: Vec::new(), ..policy }
    };
    old.record.members == new.record.members && rules(old) == rules(new)
}
