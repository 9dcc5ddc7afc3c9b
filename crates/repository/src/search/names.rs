//! The names of one repository as one text, and the best matches of a search in it.

use crate::search::query::{Rank, Word, rank};
use memchr::{memchr, memrchr};
use std::cmp::Ordering;
use std::collections::BTreeMap;
use telemetry::give_way;

/// The names of a repository, in byte order, one a line.
#[derive(Debug, Default, Clone)]
pub(crate) struct Names {
    text: String,
    /// The same with small ASCII letters, at the same offsets. `None`: it is equal.
    lower: Option<String>,
}

/// The matches of one rank: how many, and the first ones.
#[derive(Debug, Default, Clone)]
pub(crate) struct Matches {
    pub(crate) count: u64,
    /// Names in byte order.
    pub(crate) first: Vec<String>,
}

/// The matches by rank.
pub(crate) type Ranked = [Matches; Rank::ALL.len()];

impl Names {
    /// These names, which are in byte order. A name with a line break is left out: no format has one.
    pub(crate) fn new<'n>(names: impl Iterator<Item = &'n str>) -> Self {
        let mut text = String::new();
        for name in names.filter(|name| !name.contains('\n')) {
            give_way();
            text.push_str(name);
            text.push('\n');
        }
        text.shrink_to_fit();
        let lower = text.bytes().any(|byte| byte.is_ascii_uppercase()).then(|| text.to_ascii_lowercase());
        Self { text, lower }
    }

    /// The same with the names of `changes` added (`true`) or removed.
    pub(crate) fn changed(&self, changes: &BTreeMap<String, bool>) -> Self {
        let (mut all, mut changed) = (Vec::new(), changes.iter().peekable());
        for name in self.text.lines() {
            while let Some((new, present)) = changed.next_if(|(new, _)| new.as_str() < name) {
                all.extend(present.then_some(new.as_str()));
            }
            match changed.next_if(|(new, _)| new.as_str() == name) {
                Some((_, false)) => {}
                Some((_, true)) | None => all.push(name),
            }
        }
        all.extend(changed.filter(|(_, present)| **present).map(|(new, _)| new.as_str()));
        Self::new(all.into_iter())
    }

    /// Whether each of these names is in it (`true`) or not.
    pub(crate) fn has_all(&self, names: &BTreeMap<String, bool>) -> bool {
        names.iter().all(|(name, present)| self.has(name) == *present)
    }

    fn has(&self, name: &str) -> bool {
        let text = self.text.as_bytes();
        let (mut low, mut high) = (0, text.len());
        while low < high {
            let middle = low + (high - low) / 2;
            let begin = text[..middle].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let end = text[middle..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| middle + at);
            match text[begin..end].cmp(name.as_bytes()) {
                Ordering::Equal => return true,
                Ordering::Less => low = end + 1,
                Ordering::Greater => high = begin,
            }
        }
        false
    }

    /// Its size in memory, in bytes.
    pub(crate) fn weight(&self) -> u64 {
        (self.text.capacity() + self.lower.as_ref().map_or(0, String::capacity)) as u64
    }

    /// The matches of words in lower case. Of each rank the first `limit` names for which `follows` is true.
    pub(crate) fn matches(&self, words: &[Word<'_>], limit: usize, follows: impl Fn(Rank, &str) -> bool) -> Ranked {
        let mut ranked = Ranked::default();
        let lower = self.lower.as_deref().unwrap_or(&self.text);
        // The longest word is the rarest, more often than not.
        let Some(rare) = words.iter().max_by_key(|word| word.text.len()) else { return ranked };
        let (text, mut from) = (lower.as_bytes(), 0);
        while let Some(at) = rare.find(&text[from..]).map(|at| from + at) {
            let begin = memrchr(b'\n', &text[from..at]).map_or(from, |newline| from + newline + 1);
            let end = memchr(b'\n', &text[at..]).map_or(text.len(), |newline| at + newline);
            from = end.saturating_add(1).min(text.len());
            let Some(rank) = rank(&lower[begin..end], words) else { continue };
            let matches = &mut ranked[rank as usize];
            matches.count += 1;
            let name = &self.text[begin..end];
            if matches.first.len() < limit && follows(rank, name) {
                matches.first.push(name.to_owned());
            }
        }
        ranked
    }
}

/// A match in one of several repositories: by rank, then name, then the name of its repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place<'a> {
    pub(crate) rank: Rank,
    pub(crate) name: &'a str,
    pub(crate) repository: &'a str,
}

impl Place<'_> {
    pub(crate) fn order(&self, other: &Place<'_>) -> Ordering {
        (self.rank, self.name, self.repository).cmp(&(other.rank, other.name, other.repository))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn matches_are_those_of_all_names_filtered(
            names in proptest::collection::btree_set("[aB:.-]{1,5}", 0..40),
            words in proptest::collection::vec("[ab:.-]{1,3}", 1..3),
            limit in 0_usize..6,
            after in "[aB]{0,2}",
        ) {
            let index = Names::new(names.iter().map(String::as_str));
            let prepared: Vec<Word<'_>> = words.iter().map(|word| Word::new(word)).collect();
            let found = index.matches(&prepared, limit, |_, name| name > after.as_str());
            for (at, expected) in Rank::ALL.into_iter().enumerate() {
                let all: Vec<&String> = names.iter().filter(|name| rank(&name.to_ascii_lowercase(), &prepared) == Some(expected)).collect();
                prop_assert_eq!(found[at].count, all.len() as u64);
                let first: Vec<&String> = all.into_iter().filter(|name| **name > after).take(limit).collect();
                prop_assert_eq!(found[at].first.iter().collect::<Vec<_>>(), first);
            }
        }

        #[test]
        fn changed_names_are_those_of_a_set(
            before in proptest::collection::btree_set("[a-c]{1,2}", 0..9),
            changes in proptest::collection::btree_map("[a-c]{1,2}", any::<bool>(), 0..9),
        ) {
            let mut after: BTreeSet<String> = before.clone();
            for (name, present) in &changes {
                if *present { after.insert(name.clone()); } else { after.remove(name); }
            }
            let changed = Names::new(before.iter().map(String::as_str)).changed(&changes);
            for name in before.iter().chain(changes.keys()) {
                prop_assert_eq!(changed.has(name), after.contains(name), "{}", name);
            }
            prop_assert_eq!(changed.text, Names::new(after.iter().map(String::as_str)).text);
        }
    }
}
