//! The rules for members of groups: they exist and have the format of the group, groups form no cycle, and a public
//! group has no private member.

use crate::bad_setting::BadSetting;
use crate::error::Result;
use crate::record::RepositoryRecord;
use crate::repository::RepositoryTable;
use std::collections::{HashMap, HashSet};
use store::RepositoryKind;

/// Maximum number of hosted and remote members of a group, including those of nested groups.
const LEAVES_MAX: usize = 300;

/// Refuses `record`, which is new or changed, if it makes a group invalid. `known` has the other repositories, and
/// `with` the ones that the same call creates.
pub(crate) fn check(record: &RepositoryRecord, known: &RepositoryTable, with: &[RepositoryRecord]) -> Result<()> {
    let there = known.by_name.values().map(|one| &one.record).chain(with);
    let mut all: HashMap<&str, &RepositoryRecord> = there.map(|one| (one.name.as_str(), one)).collect();
    all.insert(&record.name, record);
    for name in &record.members {
        let member = all.get(name.as_str()).ok_or_else(|| {
            BadSetting::new(
                format!("there is no repository `{name}`"),
                "`daylight repo list` lists them; make it first",
            )
        })?;
        if member.format != record.format {
            let text = format!("`{name}` has format {}, and the group {}", member.format, record.format);
            return Err(BadSetting::new(text, "the members of a group are of its format").into());
        }
    }
    // The groups that contain it too: this change may make them invalid.
    let others = all.values().copied().filter(|one| one.name != record.name);
    for group in [record].into_iter().chain(others).filter(|one| one.kind == RepositoryKind::Group) {
        let mut leaves = Leaves::default();
        walk(&all, group, &mut vec![&group.name], &mut leaves)?;
        let leaves = leaves.found;
        if leaves.len() > LEAVES_MAX {
            let text = format!("`{}` would come to {} repositories", group.name, leaves.len());
            return Err(BadSetting::new(text, &format!("{LEAVES_MAX} at most")).into());
        }
        if let Some(private) = leaves.iter().find(|leaf| leaf.private && !group.private) {
            let text =
                format!("anybody reads `{}`, and would read `{}`, which needs a token", group.name, private.name);
            let hint = format!("make `{}` private first (`daylight repo set {} --read token`)", group.name, group.name);
            return Err(BadSetting::new(text, &hint).into());
        }
    }
    Ok(())
}

/// The hosted and remote members of a group, and the names of all members that were visited, groups among them.
#[derive(Default)]
struct Leaves<'a> {
    found: Vec<&'a RepositoryRecord>,
    visited: HashSet<&'a str>,
}

/// Collects the hosted and remote members of a group, and finds cycles. Each group is visited once, however often it is a member.
fn walk<'a>(
    all: &HashMap<&str, &'a RepositoryRecord>,
    group: &'a RepositoryRecord,
    way: &mut Vec<&'a str>,
    leaves: &mut Leaves<'a>,
) -> Result<(), BadSetting> {
    for member in group.members.iter().filter_map(|name| all.get(name.as_str()).copied()) {
        if way.contains(&member.name.as_str()) {
            let circle = [&way[..], &[member.name.as_str()]].concat().join("` -> `");
            return Err(BadSetting::new(format!("groups in a circle: `{circle}`"), "take one of them out"));
        }
        if !leaves.visited.insert(&member.name) {
            continue;
        }
        if member.kind == RepositoryKind::Group {
            way.push(&member.name);
            walk(all, member, way, leaves)?;
            way.pop();
        } else {
            leaves.found.push(member);
        }
    }
    Ok(())
}

/// Refuses to remove a member of a group.
pub(crate) fn free(name: &str, known: &RepositoryTable) -> Result<()> {
    let names = |record: &RepositoryRecord| record.members.iter().any(|member| member == name);
    let mut groups: Vec<&str> =
        known.by_name.values().filter(|one| names(&one.record)).map(|one| one.record.name.as_str()).collect();
    groups.sort_unstable();
    match groups.first() {
        None => Ok(()),
        Some(group) => {
            let text = format!("`{name}` is a member of `{}`", groups.join("`, `"));
            let hint = format!("name the other members first: `daylight repo set {group} --member NAME --member NAME`");
            Err(BadSetting::new(text, &hint).into())
        }
    }
}
