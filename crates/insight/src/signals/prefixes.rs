//! Figures of a member of a group by the beginning of names: whether what it lacks is always below the same prefix.

use super::sketch::Sketch;

/// The most prefixes of one member with figures of their own.
const PREFIXES_MAX: usize = 32;

/// The answers of a member about names with one prefix.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrefixSeen {
    /// Answers with what was asked for.
    pub(crate) hits: u64,
    /// Calls for files that another member had.
    pub(crate) others: u64,
    /// The folders of those files.
    pub(crate) others_folders: Sketch,
    /// Calls for files that nobody had.
    pub(crate) missing: u64,
    /// The folders of those files.
    pub(crate) missing_folders: Sketch,
    /// The paths of those files.
    pub(crate) missing_paths: Sketch,
    /// The groups of their packages, or the folders above theirs.
    pub(crate) missing_groups: Sketch,
    /// The time that requests for those files waited for it, in nanoseconds.
    pub(crate) missing_nanos: u64,
}

impl PrefixSeen {
    fn weight(&self) -> u64 {
        self.hits + self.others + self.missing
    }

    fn add(&mut self, other: &Self) {
        self.hits += other.hits;
        self.others += other.others;
        self.others_folders.merge(&other.others_folders);
        self.missing += other.missing;
        self.missing_folders.merge(&other.missing_folders);
        self.missing_paths.merge(&other.missing_paths);
        self.missing_groups.merge(&other.missing_groups);
        self.missing_nanos += other.missing_nanos;
    }
}

/// The figures of one member by prefix.
#[derive(Debug, Clone, Default)]
pub(crate) struct PrefixesSeen {
    /// By prefix: the first two parts of a group (`org.example`), or the first two folders of a path (`tools/linux/`).
    pub(crate) list: Vec<(Box<str>, PrefixSeen)>,
    /// Whether the member has had something below a prefix that has no figures any more.
    pub(crate) has_others: bool,
}

impl PrefixesSeen {
    /// The figures of a prefix, to be changed. `None`: too many others have more.
    ///
    /// `space` is how many further prefixes may have figures, of all members together.
    pub(super) fn of_mut(&mut self, prefix: &str, space: &mut usize) -> Option<&mut PrefixSeen> {
        if let Some(at) = self.list.iter().position(|(known, _)| **known == *prefix) {
            return self.list.get_mut(at).map(|(_, seen)| seen);
        }
        self.insert(prefix, PrefixSeen::default(), space)
    }

    pub(super) fn add(&mut self, other: &Self, space: &mut usize) {
        self.has_others |= other.has_others;
        for (at, (prefix, theirs)) in other.list.iter().enumerate() {
            // Sums of adjacent windows mostly have the same prefixes in the same order.
            let expected = self.list.get(at).is_some_and(|(known, _)| known == prefix).then_some(at);
            let find = || self.list.iter().position(|(known, _)| known == prefix);
            match expected.or_else(find) {
                Some(at) => self.list[at].1.add(theirs),
                None => drop(self.insert(prefix, theirs.clone(), space)),
            }
        }
    }

    /// Adds a prefix. If there is no space, the one with the least answers goes, if it has no more than the new one.
    fn insert(&mut self, prefix: &str, seen: PrefixSeen, space: &mut usize) -> Option<&mut PrefixSeen> {
        if self.list.len() < PREFIXES_MAX && *space > 0 {
            *space -= 1;
        } else {
            let least = (0..self.list.len()).min_by_key(|at| self.list[*at].1.weight());
            let least = least.filter(|least| self.list[*least].1.weight() <= seen.weight().max(1));
            let Some(least) = least else {
                self.has_others |= seen.hits > 0;
                return None;
            };
            self.has_others |= self.list[least].1.hits > 0;
            self.list.swap_remove(least);
        }
        self.list.push((prefix.into(), seen));
        self.list.last_mut().map(|(_, seen)| seen)
    }

    /// A hit below a prefix without figures.
    pub(super) fn missed_hit(&mut self) {
        self.has_others = true;
    }

    /// The prefixes below which the member had something. `None`: not all of them are known.
    pub(crate) fn with_hits(&self) -> Option<Vec<&str>> {
        let hits = self.list.iter().filter(|(_, seen)| seen.hits > 0).map(|(prefix, _)| &**prefix);
        (!self.has_others).then(|| hits.collect())
    }
}

/// The prefix of a package (`GROUP:ARTIFACT`) or of a path; that of a path ends with a slash. `None`: it is too short for a prefix.
pub(super) fn prefix(package: &str) -> Option<&str> {
    let Some((group, _)) = package.split_once(':') else {
        let second = package.match_indices('/').take(2).last().map(|(at, _)| at);
        return package.get(..=second?);
    };
    let second = group.match_indices('.').nth(1).map_or(group.len(), |(at, _)| at);
    group.get(..second).filter(|prefix| !prefix.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_the_first_two_parts_of_a_group_or_of_a_path() {
        let cases = [
            ("org.example.lamp:oil", Some("org.example")),
            ("junit:junit", Some("junit")),
            ("tools/linux/x86/go.tar", Some("tools/linux/")),
            ("tools/go.tar", Some("tools/")),
            ("go.tar", None),
            ("", None),
        ];
        for (package, expected) in cases {
            assert_eq!(prefix(package), expected, "{package}");
        }
    }

    #[test]
    fn the_prefixes_with_most_answers_stay_and_it_is_known_that_there_are_others() {
        let (mut seen, mut space) = (PrefixesSeen::default(), 40);
        for _ in 0..100 {
            seen.of_mut("org.busy", &mut space).unwrap().missing += 1;
        }
        for n in 0..100 {
            if let Some(seen) = seen.of_mut(&format!("org.n{n}"), &mut space) {
                seen.hits += 1;
            }
        }
        assert_eq!((seen.list.len(), seen.with_hits()), (PREFIXES_MAX, None));
        let mut sum = PrefixesSeen::default();
        assert_eq!(space, 8);
        sum.add(&seen, &mut space);
        sum.add(&seen, &mut space);
        assert_eq!((sum.list.len(), space), (8, 0));
        let busy = sum.list.iter().find(|(prefix, _)| **prefix == *"org.busy").unwrap();
        assert_eq!(busy.1.missing, 200);
    }
}
