//! All folders that builds have or had, sorted, with the places of their files.
//!
//! They are one text in which each name has only the part that the one before lacks. Every sixteenth is whole, and where
//! these begin is known.

use crate::maven::koji::map::packed::{put, take};

/// Names between two whole ones.
const BLOCK: usize = 16;

/// Where the files of a folder are: the number of a set of files, and the offset in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Posting {
    pub(crate) set: u32,
    pub(crate) offset: u32,
}

/// The folders.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    text: Box<[u8]>,
    blocks: Box<[u32]>,
}

/// A position among the folders.
#[derive(Debug)]
pub(crate) struct Cursor<'a> {
    folders: &'a Folders,
    rest: &'a [u8],
    /// The folder at this position.
    pub(crate) name: String,
    postings: &'a [u8],
}

impl Folders {
    /// The folders with further ones, which are sorted by name.
    pub(crate) fn with(&self, more: &[(String, Posting)]) -> Self {
        let mut made = Writer::default();
        let (mut old, mut new) = (self.first(), more.chunk_by(|one, other| one.0 == other.0).peekable());
        loop {
            let name = new.peek().and_then(|of| of.first()).map(|(name, _)| name.as_str());
            let order = match (&old, name) {
                (None, None) => break,
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (Some(old), Some(name)) => old.name.as_str().cmp(name),
            };
            let mut postings: Vec<Posting> = Vec::new();
            let mut of = String::new();
            if order.is_le()
                && let Some(at) = old.take()
            {
                postings.extend(at.postings());
                of.clone_from(&at.name);
                old = at.next();
            }
            if order.is_ge()
                && let Some(chunk) = new.next()
            {
                postings.extend(chunk.iter().map(|(_, posting)| *posting));
                if let Some((name, _)) = chunk.first() {
                    of.clone_from(name);
                }
            }
            made.add(&of, &postings);
        }
        Self { text: made.text.into(), blocks: made.blocks.into() }
    }

    /// Bytes of memory.
    pub(crate) fn weight(&self) -> usize {
        self.text.len() + self.blocks.len() * size_of::<u32>()
    }

    /// The first folder.
    pub(crate) fn first(&self) -> Option<Cursor<'_>> {
        self.block(0)
    }

    fn block(&self, at: usize) -> Option<Cursor<'_>> {
        let rest = self.text.get(*self.blocks.get(at)? as usize..)?;
        Cursor { folders: self, rest, name: String::new(), postings: &[] }.next()
    }

    /// The first folder that is `from` or comes after it.
    pub(crate) fn seek(&self, from: &str) -> Option<Cursor<'_>> {
        let (mut low, mut high) = (0, self.blocks.len());
        while low + 1 < high {
            let middle = usize::midpoint(low, high);
            if self.block(middle).is_some_and(|at| at.name.as_str() <= from) {
                low = middle;
            } else {
                high = middle;
            }
        }
        let mut at = self.block(low)?;
        while at.name.as_str() < from {
            at = at.next()?;
        }
        Some(at)
    }

    /// The places of the files of a folder.
    pub(crate) fn find(&self, folder: &str) -> Vec<Posting> {
        let found = self.seek(folder).filter(|at| at.name == folder);
        found.map(|at| at.postings().collect()).unwrap_or_default()
    }
}

impl<'a> Cursor<'a> {
    /// The folder after this one.
    pub(crate) fn next(mut self) -> Option<Self> {
        let shared = usize::try_from(take(&mut self.rest)?).ok()?;
        let length = usize::try_from(take(&mut self.rest)?).ok()?;
        let (more, mut rest) = self.rest.split_at_checked(length)?;
        self.name.truncate(shared);
        self.name.push_str(std::str::from_utf8(more).ok()?);
        let count = take(&mut rest)?;
        self.postings = rest;
        for _ in 0..2 * count {
            take(&mut rest)?;
        }
        let used = self.postings.len() - rest.len();
        (self.postings, self.rest) = self.postings.split_at_checked(used)?;
        Some(self)
    }

    /// The first folder from here on that is `from` or comes after it.
    pub(crate) fn skip_to(mut self, from: &str) -> Option<Self> {
        // The next few are read; beyond them a search is quicker.
        for _ in 0..BLOCK {
            if self.name.as_str() >= from {
                return Some(self);
            }
            self = self.next()?;
        }
        self.folders.seek(from)
    }

    /// The places of its files.
    pub(crate) fn postings(&self) -> impl Iterator<Item = Posting> + use<'a> {
        let mut rest = self.postings;
        std::iter::from_fn(move || {
            let set = u32::try_from(take(&mut rest)?).ok()?;
            Some(Posting { set, offset: u32::try_from(take(&mut rest)?).ok()? })
        })
    }
}

#[derive(Debug, Default)]
struct Writer {
    text: Vec<u8>,
    blocks: Vec<u32>,
    count: usize,
    before: String,
}

impl Writer {
    fn add(&mut self, name: &str, postings: &[Posting]) {
        if self.count.is_multiple_of(BLOCK) {
            self.blocks.push(u32::try_from(self.text.len()).unwrap_or(u32::MAX));
            self.before.clear();
        }
        let same = name.bytes().zip(self.before.bytes()).take_while(|(one, other)| one == other).count();
        // No character is divided.
        let shared = (0..=same).rev().find(|at| name.is_char_boundary(*at)).unwrap_or(0);
        let rest = name.get(shared..).unwrap_or_default();
        put(&mut self.text, shared as u64);
        put(&mut self.text, rest.len() as u64);
        self.text.extend_from_slice(rest.as_bytes());
        put(&mut self.text, postings.len() as u64);
        for Posting { set, offset } in postings {
            put(&mut self.text, u64::from(*set));
            put(&mut self.text, u64::from(*offset));
        }
        self.before.clear();
        self.before.push_str(name);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn folders_are_found_as_in_a_sorted_map_however_they_are_added(
            groups in prop::collection::vec(prop::collection::vec("[aü]{1,3}/[a-c-]{1,3}", 0..40), 1..6),
            asked in "[aü]{0,2}/?[a-c-]{0,2}",
        ) {
            let (mut folders, mut model) = (Folders::default(), BTreeMap::<String, Vec<Posting>>::new());
            for (set, mut names) in groups.into_iter().enumerate() {
                names.sort();
                names.dedup();
                let posting = |at: usize| Posting { set: set as u32, offset: at as u32 * 100 };
                let more: Vec<_> = names.into_iter().enumerate().map(|(at, name)| (name, posting(at))).collect();
                more.iter().for_each(|(name, posting)| model.entry(name.clone()).or_default().push(*posting));
                folders = folders.with(&more);
            }
            for (name, postings) in &model {
                prop_assert_eq!(&folders.find(name), postings);
            }
            let (mut all, mut at) = (Vec::new(), folders.first());
            while let Some(here) = at {
                all.push(here.name.clone());
                at = here.next();
            }
            prop_assert_eq!(all, model.keys().cloned().collect::<Vec<_>>());
            let after = model.range(asked.clone()..).next().map(|(name, _)| name.clone());
            prop_assert_eq!(folders.seek(&asked).map(|at| at.name), after.clone());
            prop_assert_eq!(folders.first().and_then(|at| at.skip_to(&asked)).map(|at| at.name), after);
        }
    }
}
