//! The positions of the lines of each name: a hash of a name leads to its last line, and each line to the previous one
//! of the same name. The names themselves stay in the text, so 192,000 of them take some 4 MB.

use super::NAME_BYTES;
use std::hash::{BuildHasher as _, RandomState};

/// No line.
const NONE: u32 = u32::MAX;

/// The table. Its hash function has random keys, because the upstream chooses the names.
#[derive(Debug, Clone, Default)]
pub(super) struct Table {
    /// Its length is a power of two, and at most three quarters are used.
    slots: Vec<Slot>,
    names: usize,
    lines: Vec<Line>,
    hasher: RandomState,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u32,
    /// The last line of the name.
    line: u32,
    /// The length of all its lines.
    bytes: u32,
}

#[derive(Debug, Clone, Copy)]
struct Line {
    at: u32,
    before: u32,
}

impl Table {
    /// The number of names.
    pub(super) fn names(&self) -> usize {
        self.names
    }

    /// The number of lines.
    pub(super) fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Its size in memory, in bytes.
    pub(super) fn weight(&self) -> usize {
        self.slots.capacity() * size_of::<Slot>() + self.lines.capacity() * size_of::<Line>()
    }

    /// The offset of the first line that is not the first of its name.
    pub(super) fn first_repeated(&self) -> Option<usize> {
        self.lines.iter().find(|line| line.before != NONE).map(|line| line.at as usize)
    }

    /// Adds a line of a name at an offset, with this many bytes. `is_name` returns whether the line at another offset
    /// has the same name. `false`: the name already has as many bytes of lines as allowed, and this one is left out.
    pub(super) fn add(&mut self, name: &str, at: u32, bytes: usize, is_name: impl Fn(usize) -> bool) -> bool {
        if 4 * (self.names + 1) > 3 * self.slots.len() {
            self.grow();
        }
        let hash = self.hash(name);
        let place = self.place(hash, is_name);
        let Slot { line: before, bytes: had, .. } = self.slots[place];
        let bytes = had as usize + bytes;
        if bytes > NAME_BYTES {
            return false;
        }
        self.names += usize::from(before == NONE);
        self.slots[place] = Slot { hash, line: self.lines.len() as u32, bytes: bytes as u32 };
        self.lines.push(Line { at, before });
        true
    }

    /// The offsets of a name's lines, the last one first.
    pub(super) fn find(&self, name: &str, is_name: impl Fn(usize) -> bool) -> Vec<usize> {
        if self.slots.is_empty() {
            return Vec::new();
        }
        let place = self.place(self.hash(name), is_name);
        self.chain(self.slots[place].line)
    }

    /// Whether a name has a line.
    pub(super) fn has(&self, name: &str, is_name: impl Fn(usize) -> bool) -> bool {
        !self.slots.is_empty() && self.slots[self.place(self.hash(name), is_name)].line != NONE
    }

    /// The offsets of the lines of each name, in the order of their last lines.
    pub(super) fn each(&self) -> impl Iterator<Item = Vec<usize>> {
        let mut last: Vec<u32> = self.slots.iter().map(|slot| slot.line).filter(|line| *line != NONE).collect();
        last.sort_unstable();
        last.into_iter().map(|line| self.chain(line))
    }

    fn chain(&self, mut line: u32) -> Vec<usize> {
        let mut chain = Vec::new();
        while let Some(Line { at, before }) = self.lines.get(line as usize) {
            chain.push(*at as usize);
            line = *before;
        }
        chain
    }

    fn hash(&self, name: &str) -> u32 {
        self.hasher.hash_one(name) as u32
    }

    /// The slot of a name, or the free slot for it.
    fn place(&self, hash: u32, is_name: impl Fn(usize) -> bool) -> usize {
        let mask = self.slots.len() - 1;
        let mut place = hash as usize & mask;
        loop {
            let slot = self.slots[place];
            let same = |line: u32| slot.hash == hash && is_name(self.lines[line as usize].at as usize);
            if slot.line == NONE || same(slot.line) {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    fn grow(&mut self) {
        const LEAST: usize = 64;
        let larger = vec![Slot { hash: 0, line: NONE, bytes: 0 }; (2 * self.slots.len()).max(LEAST)];
        let before = std::mem::replace(&mut self.slots, larger);
        for slot in before.into_iter().filter(|slot| slot.line != NONE) {
            let place = self.place(slot.hash, |_| false);
            self.slots[place] = slot;
        }
    }
}
