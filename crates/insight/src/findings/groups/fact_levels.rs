//! At which level fewer facts about what upstreams lack would give the same answers: for each file, folder, group of packages, or the first two
//! words of names.

use crate::signals::members::MembersSeen;
use crate::signals::prefixes::PrefixSeen;
use serde_json::{Value, json};

/// The facts of a day at several levels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactLevels {
    /// From the finest to the coarsest.
    pub levels: Vec<FactLevel>,
    /// The level with the fewest entries; the finer one of two. `None`: no upstream lacked anything.
    pub fewest: Option<&'static str>,
}

/// The facts of a day at one level. Answers are the same at all of them: below a prefix where an upstream has something, coarser levels have
/// facts for each folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FactLevel {
    /// `file`, `folder`, `group` or `prefix`, the first two words of names.
    pub level: &'static str,
    /// About how many entries there would be, for all upstreams.
    pub entries: u64,
    /// Those of them that must be folders, because the upstream has something below the same prefix.
    pub as_folders: u64,
}

impl FactLevels {
    /// As JSON.
    pub(crate) fn json(&self) -> Value {
        let level =
            |one: &FactLevel| json!({ "level": one.level, "entries": one.entries, "as_folders": one.as_folders });
        json!({ "levels": self.levels.iter().map(level).collect::<Vec<_>>(), "fewest": self.fewest })
    }
}

/// The entries of one prefix at each level, from files to prefixes.
fn entries(prefix: &PrefixSeen) -> [u64; 4] {
    let folders = prefix.missing_folders.count();
    let groups = prefix.missing_groups.count().min(folders);
    [prefix.missing_paths.count().max(folders), folders, groups, folders.min(1)]
}

/// The facts of a window at each level.
pub(crate) fn fact_levels(members: &MembersSeen) -> FactLevels {
    let mut levels = ["file", "folder", "group", "prefix"].map(|level| FactLevel { level, entries: 0, as_folders: 0 });
    let all = members.groups.values().flat_map(|group| &group.members);
    for (_, prefix) in all.flat_map(|(_, member)| &member.prefixes.list) {
        let own = entries(prefix);
        for (at, level) in levels.iter_mut().enumerate() {
            let must_be_folders = at > 1 && prefix.hits > 0;
            level.entries += if must_be_folders { own[1] } else { own[at] };
            level.as_folders += if must_be_folders { own[1] } else { 0 };
        }
    }
    let fewest = levels.iter().filter(|level| level.entries > 0).min_by_key(|level| level.entries);
    FactLevels { fewest: fewest.map(|level| level.level), levels: levels.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::super::staged::{slow, staged, with};
    use super::*;

    #[test]
    fn an_upstream_that_lacks_whole_prefixes_needs_one_fact_for_each_and_one_that_has_some_needs_folders() {
        let facts = |hits: u64| {
            let mut prefix = PrefixSeen { hits, ..PrefixSeen::default() };
            for number in 0..60 {
                let group = number % 6;
                prefix.missing_groups.add(&format!("com.acme.{group}"));
                prefix.missing_folders.add(&format!("com/acme/{group}/{number}"));
                ["pom", "jar"].iter().for_each(|file| prefix.missing_paths.add(&format!("{number}.{file}")));
            }
            let seen = with(staged(), |group| slow(group).prefixes.list.push(("com.acme".into(), prefix.clone())), 1.0);
            fact_levels(&seen.day.members)
        };
        let near = |levels: &FactLevels, expected: [u64; 4]| {
            for (level, expected) in levels.levels.iter().zip(expected) {
                assert!(level.entries.abs_diff(expected) * 5 <= expected, "{level:?}, {expected}");
            }
        };
        let whole = facts(0);
        near(&whole, [120, 60, 6, 1]);
        assert_eq!(whole.fewest, Some("prefix"));
        let some = facts(1);
        near(&some, [120, 60, 60, 60]);
        assert_eq!(some.fewest, Some("folder"));
        assert_eq!(some.levels[3].as_folders, some.levels[1].entries);
    }
}
