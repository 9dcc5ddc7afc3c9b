//! Texts, each once, with the place of each.

use crate::hash::Seed;
use crate::texts::Texts;
use std::fmt;
use std::hash::BuildHasher;

/// Texts, each once, in the order in which they came. The table has half of each hash and no text, so it is small: a question looks up
/// millions of texts.
#[derive(Default, Clone)]
pub(crate) struct Interner {
    /// The upper half of the hash of a text, and its place; [`FREE`]: no text. Their number is a power of two.
    slots: Vec<(u32, u32)>,
    texts: Texts,
    seed: Seed,
}

/// The place of a slot without a text.
const FREE: u32 = u32::MAX;

impl Interner {
    /// An estimate of the memory of a text without its bytes: its end, and at most three slots.
    pub(crate) const TEXT_BYTES: usize = size_of::<usize>() + 3 * size_of::<(u32, u32)>();

    /// The texts by their places.
    pub(crate) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The texts alone.
    pub(crate) fn into_texts(self) -> Texts {
        self.texts
    }

    /// The place of a text.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.found(self.mark(text), text)
    }

    /// The place of a text, which is appended if it is not there.
    pub(crate) fn intern(&mut self, text: &str) -> u32 {
        let mark = self.mark(text);
        self.found(mark, text).unwrap_or_else(|| {
            let place = self.texts.len() as u32;
            self.texts.push(text);
            self.insert(mark, place);
            place
        })
    }

    /// The memory that it takes, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(u32, u32)>() + self.texts.bytes()
    }

    fn mark(&self, text: &str) -> u32 {
        (self.seed.hash_one(text) >> 32) as u32
    }

    fn found(&self, mark: u32, text: &str) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = mark as usize & mask;
        loop {
            match self.slots[slot] {
                (_, FREE) => return None,
                (seen, place) if seen == mark && self.texts.get(place as usize) == Some(text) => return Some(place),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    /// Inserts the last text so far: that of the highest place.
    fn insert(&mut self, mark: u32, place: u32) {
        // A quarter of the slots is free at least, so a search ends soon.
        if self.slots.len() * 3 <= place as usize * 4 {
            let larger = vec![(0, FREE); (self.slots.len() * 2).max(16)];
            let old = std::mem::replace(&mut self.slots, larger);
            old.into_iter().filter(|(_, place)| *place != FREE).for_each(|(mark, place)| self.put(mark, place));
        }
        self.put(mark, place);
    }

    fn put(&mut self, mark: u32, place: u32) {
        let mask = self.slots.len() - 1;
        let mut slot = mark as usize & mask;
        while self.slots[slot].1 != FREE {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = (mark, place);
    }
}

impl From<Texts> for Interner {
    /// Texts of which none occurs twice keep their places.
    fn from(texts: Texts) -> Self {
        let mut all = Self { texts, ..Self::default() };
        for place in 0..all.texts.len() {
            all.insert(all.mark(&all.texts[place]), place as u32);
        }
        all
    }
}

impl fmt::Debug for Interner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.texts.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_place_in_the_order_of_their_coming() {
        let mut all = Interner::default();
        let text = |number: u32| "x".repeat(number as usize % 40) + &number.to_string();
        assert_eq!(all.find("0"), None);
        for _ in 0..2 {
            assert!((0..1000).all(|number| all.intern(&text(number)) == number));
        }
        for all in [&all, &Interner::from(all.texts().clone())] {
            assert!((0..1000).all(|number| all.find(&text(number)) == Some(number)));
            assert_eq!((all.texts().len(), &all.texts()[7], all.find("another")), (1000, "xxxxxxx7", None));
        }
    }

    #[test]
    fn texts_with_the_same_half_of_a_hash_have_places_of_their_own() {
        let mut all = Interner::default();
        for (place, text) in (0..).zip(["a", "b"]) {
            all.texts.push(text);
            all.insert(7, place);
        }
        assert_eq!((all.found(7, "b"), all.found(7, "c")), (Some(1), None));
    }
}
