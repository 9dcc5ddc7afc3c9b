//! The texts that occur in groups, each with its place.

use super::seed::Seed;
use crate::texts::Texts;
use std::hash::BuildHasher;

/// Texts, and the place of each. The table has half of each hash and no text, so it is small: a question looks up millions of texts.
#[derive(Debug, Default, Clone)]
pub(super) struct Known {
    /// The upper half of the hash of a text, and its place; [`FREE`]: no text. Their number is a power of two.
    slots: Vec<(u32, u32)>,
    texts: Texts,
    seed: Seed,
}

/// The place of a slot without a text.
const FREE: u32 = u32::MAX;

impl Known {
    /// An estimate of the memory of a text without its bytes: its end, and at most three slots.
    pub(super) const TEXT_BYTES: usize = size_of::<usize>() + 3 * size_of::<(u32, u32)>();

    /// The texts by their places.
    pub(super) fn texts(&self) -> &Texts {
        &self.texts
    }

    /// The place of a text.
    pub(super) fn find(&self, text: &str) -> Option<u32> {
        self.found(self.mark(text), text)
    }

    /// The place of a text, which is appended if it is not there.
    pub(super) fn place(&mut self, text: &str) -> u32 {
        let mark = self.mark(text);
        self.found(mark, text).unwrap_or_else(|| {
            let place = self.texts.len() as u32;
            self.texts.push(text);
            if self.slots.len() * 3 < self.texts.len() * 4 {
                let larger = vec![(0, FREE); (self.slots.len() * 2).max(16)];
                let old = std::mem::replace(&mut self.slots, larger);
                old.into_iter().filter(|(_, place)| *place != FREE).for_each(|(mark, place)| self.put(mark, place));
            }
            self.put(mark, place);
            place
        })
    }

    fn mark(&self, text: &str) -> u32 {
        (self.seed.hash_one(text) >> 32) as u32
    }

    fn found(&self, mark: u32, text: &str) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = mark as usize & mask;
        loop {
            // A quarter of the slots is free at least, so the search ends.
            match self.slots[slot] {
                (_, FREE) => return None,
                (seen, place) if seen == mark && self.texts.get(place as usize) == Some(text) => return Some(place),
                _ => slot = (slot + 1) & mask,
            }
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_place_in_the_order_of_their_coming() {
        let mut known = Known::default();
        let text = |number: u32| "x".repeat(number as usize % 40) + &number.to_string();
        assert_eq!(known.find("0"), None);
        for _ in 0..2 {
            assert!((0..1000).all(|number| known.place(&text(number)) == number));
        }
        assert!((0..1000).all(|number| known.find(&text(number)) == Some(number)));
        assert_eq!((known.texts().len(), &known.texts()[7], known.find("another")), (1000, "xxxxxxx7", None));
    }

    #[test]
    fn texts_with_the_same_half_of_a_hash_have_places_of_their_own() {
        let mut known = Known { slots: vec![(0, FREE); 4], ..Known::default() };
        for (place, text) in (0..).zip(["a", "b"]) {
            known.texts.push(text);
            known.put(7, place);
        }
        assert_eq!((known.found(7, "b"), known.found(7, "c")), (Some(1), None));
    }
}
