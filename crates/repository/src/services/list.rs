//! Reads the table of all repositories, and resolves the members of groups.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::policy::rules::Rules;
use crate::record::RepositoryRecord;
use crate::repository::shared::Shared;
use crate::repository::{Repository, RepositoryTable};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use store::{RepositoryId, RepositoryKind, Seq, Stamp, Store, Unit};
use telemetry::{Bound, Event, Millis};

/// Reads the table. Its stamp is taken first: see [`RepositoryTable::stamp`]. A repository that is in `before` keeps its shared state.
pub(crate) async fn read(
    store: &Store,
    before: Option<&RepositoryTable>,
    room: &Arc<Bound>,
    event: &mut Event,
) -> Result<RepositoryTable> {
    let stamp = store.revisions().stamp([Unit::Settings], Millis(i64::MAX));
    let read = |(id, stored): (RepositoryId, store::RepositoryRecord)| {
        Ok(ReadRecord { id, record: RepositoryRecord::read(&stored)?, stored: Arc::new(stored) })
    };
    let (records, at) = store.repositories_with_number(event).await?;
    let records = records.into_iter().map(read).collect::<Result<_, store::Error>>()?;
    let table = build_table(records, at, before, room, stamp)?;
    let of = |id: RepositoryId| (id, store.revisions().stamp([Unit::SettingsOf(id)], Millis(i64::MAX)));
    let settings: HashMap<_, _> = table.by_name.values().map(|one| of(one.id)).collect();
    // The writer raises the settings of all first. So if this holds, the settings of none had changed since they were read.
    let settings = if store.revisions().holds(&stamp, Millis(0)) { settings } else { HashMap::new() };
    Ok(RepositoryTable { settings, ..table })
}

/// The settings of a repository, as they were read.
pub(crate) struct ReadRecord {
    pub(crate) id: RepositoryId,
    pub(crate) record: RepositoryRecord,
    pub(crate) stored: Arc<store::RepositoryRecord>,
}

/// The table of these records.
pub(crate) fn build_table(
    records: Vec<ReadRecord>,
    at: Seq,
    before: Option<&RepositoryTable>,
    room: &Arc<Bound>,
    stamp: Stamp,
) -> Result<RepositoryTable> {
    let mut by_name = HashMap::new();
    for ReadRecord { id, record, stored } in records {
        let format = Format::named(&record.format).ok_or_else(|| {
            Error::Unsupported(format!(
                "repository `{}` has a format that is unknown here: `{}`",
                record.name, record.format
            ))
        })?;
        let before = before.and_then(|known| known.by_name.get(&record.name)).filter(|before| before.id == id);
        let shared = before.map_or_else(|| Arc::new(Shared::new(id, room)), |before| before.shared.clone());
        by_name.insert(record.name.clone(), Repository::new(id, record, stored, format, shared));
    }
    let mut claimed = claimed_in_groups(leaves_of_groups(&by_name).iter().map(|(_, leaves)| &**leaves));
    for repository in by_name.values_mut() {
        repository.claimed_in_groups = claimed.remove(&repository.id).unwrap_or_default().into();
    }
    // Collected again: a leaf is a copy of its repository, with the names that are claimed.
    for (name, leaves) in leaves_of_groups(&by_name) {
        by_name.entry(name).and_modify(|group| group.leaves = leaves);
    }
    let by_name = by_name.into_iter().map(|(name, one)| (name, Arc::new(one))).collect();
    Ok(RepositoryTable { by_name, at, stamp, settings: HashMap::new() })
}

/// The repositories with other settings of one of them, or with a new one.
pub(crate) fn table_with(
    room: &Arc<Bound>,
    known: &RepositoryTable,
    changed: Option<&Repository>,
    record: RepositoryRecord,
) -> Result<RepositoryTable> {
    let id = changed.map_or(RepositoryId(0), |one| one.id);
    let stored = changed.map_or_else(|| Ok(Arc::new(record.stored()?)), |one| Ok::<_, Error>(one.stored.clone()))?;
    let others = known.by_name.values().filter(|one| one.id != id);
    let read =
        |one: &Arc<Repository>| ReadRecord { id: one.id, record: one.record.clone(), stored: one.stored.clone() };
    let mut records: Vec<_> = others.map(read).collect();
    records.push(ReadRecord { id, record, stored });
    build_table(records, known.at, Some(known), room, known.stamp)
}

/// The leaves of each group.
fn leaves_of_groups(all: &HashMap<String, Repository>) -> Vec<(String, Arc<[Arc<Repository>]>)> {
    let groups = all.values().filter(|repository| repository.record.kind == RepositoryKind::Group);
    groups.map(|group| (group.record.name.clone(), leaves(all, group))).collect()
}

/// For each member of a group, the names that members of its groups claim: a set for each group, which its members share.
fn claimed_in_groups<'a>(
    groups: impl Iterator<Item = &'a [Arc<Repository>]>,
) -> HashMap<RepositoryId, Vec<Arc<HashSet<String>>>> {
    let mut claimed: HashMap<RepositoryId, Vec<Arc<HashSet<String>>>> = HashMap::new();
    for leaves in groups {
        let names: HashSet<String> = leaves.iter().flat_map(|leaf| leaf.record.claims.iter().cloned()).collect();
        if names.is_empty() {
            continue;
        }
        let names = Arc::new(names);
        for leaf in leaves {
            claimed.entry(leaf.id).or_default().push(names.clone());
        }
    }
    claimed
}

/// The hosted and remote members of a group, in order, each at its first place, as they are seen through it.
fn leaves(all: &HashMap<String, Repository>, group: &Repository) -> Arc<[Arc<Repository>]> {
    let (mut found, mut seen) = (Vec::new(), HashSet::from([group.id]));
    gather(all, group, &group.rules, group.record.created, &mut seen, &mut found);
    found.into()
}

/// Adds the members of `group`, which has had its place since `stands`, to `found`. `seen` has all members so far,
/// including groups, so that a cycle in the records ends.
fn gather(
    all: &HashMap<String, Repository>,
    group: &Repository,
    rules: &Rules,
    since: Millis,
    seen: &mut HashSet<RepositoryId>,
    found: &mut Vec<Arc<Repository>>,
) {
    let members = group.record.members.iter().enumerate();
    for (place, member) in members.filter_map(|(place, name)| Some((place, all.get(name)?))) {
        if !seen.insert(member.id) {
            continue;
        }
        let (rules, stands_since) = (member.rules.within(rules), since.max(group.record.member_since(place)));
        match member.record.kind {
            RepositoryKind::Group => gather(all, member, &rules, stands_since, seen, found),
            RepositoryKind::Hosted | RepositoryKind::Remote => {
                found.push(Arc::new(Repository { stands_since, ..member.seen(rules, None) }));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::Revisions;
    use telemetry::BoundName;

    #[test]
    fn a_member_knows_what_another_claims_also_as_it_is_seen_through_their_group() {
        let record = |name: &str, kind| RepositoryRecord::new(name, "gem", kind, Millis(0));
        let mut records = [
            record("ours", RepositoryKind::Hosted),
            record("theirs", RepositoryKind::Remote),
            record("all", RepositoryKind::Group),
        ];
        records[0].claims = vec!["vault".to_owned()];
        records[2].members = vec!["ours".to_owned(), "theirs".to_owned()];
        let records = records.into_iter().enumerate().map(|(at, record)| {
            let stored = Arc::new(record.stored().unwrap());
            ReadRecord { id: RepositoryId(at as u64 + 1), record, stored }
        });
        let stamp = Revisions::new(Seq(0)).stamp([], Millis(1));
        let room = Bound::new(BoundName::Indexes, "indexes", 1);
        let table = build_table(records.collect(), Seq(1), None, &room, stamp).unwrap();
        let through = table.by_name["all"].leaves.iter().find(|leaf| leaf.record.name == "theirs").unwrap();
        for theirs in [&table.by_name["theirs"], through] {
            assert!(theirs.is_claimed_by_others("vault") && !theirs.is_claimed_by_others("lamp"));
        }
    }
}
