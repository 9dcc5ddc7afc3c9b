//! Finds the place of a text in a list of texts that is being filled.

use crate::texts::Texts;

/// A hash table of the texts of a list, which does not have the texts itself. The hash is cheap, and a client can choose paths that collide:
/// a batch of rows is small, so that costs little.
#[derive(Debug, Clone, Default)]
pub(super) struct Places {
    /// The hash of a text, and its place; [`FREE`]: no text. Their number is a power of two.
    slots: Vec<(u32, u32)>,
    texts: usize,
}

const FREE: u32 = u32::MAX;

impl Places {
    /// The table of all texts of a list.
    pub(super) fn of(texts: &Texts) -> Self {
        let mut places = Self::default();
        for (place, text) in (0..).zip(texts.iter()) {
            places.insert(hash(text), place);
        }
        places
    }

    /// The place of a text.
    pub(super) fn find(&self, text: &str, texts: &Texts) -> Option<u32> {
        self.found(hash(text), text, texts)
    }

    /// The place of a text, which is appended if the list does not have it.
    pub(super) fn find_or_push(&mut self, text: &str, texts: &mut Texts) -> u32 {
        let hash = hash(text);
        self.found(hash, text, texts).unwrap_or_else(|| {
            let place = texts.len() as u32;
            texts.push(text);
            self.insert(hash, place);
            place
        })
    }

    fn found(&self, hash: u32, text: &str, texts: &Texts) -> Option<u32> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut slot = hash as usize & mask;
        loop {
            match self.slots[slot] {
                (_, FREE) => return None,
                (seen, place) if seen == hash && texts.get(place as usize) == Some(text) => return Some(place),
                _ => slot = (slot + 1) & mask,
            }
        }
    }

    fn insert(&mut self, hash: u32, place: u32) {
        // A quarter of the slots is free at least, so a search ends soon.
        if self.slots.len() * 3 <= self.texts * 4 {
            let larger = vec![(0, FREE); (self.slots.len() * 2).max(16)];
            let old = std::mem::replace(&mut self.slots, larger);
            old.into_iter().filter(|(_, place)| *place != FREE).for_each(|(hash, place)| self.put(hash, place));
        }
        self.texts += 1;
        self.put(hash, place);
    }

    fn put(&mut self, hash: u32, place: u32) {
        let mask = self.slots.len() - 1;
        let mut slot = hash as usize & mask;
        while self.slots[slot].1 != FREE {
            slot = (slot + 1) & mask;
        }
        self.slots[slot] = (hash, place);
    }

    /// The memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.slots.capacity() * size_of::<(u32, u32)>()
    }
}

/// A hash of a text: each word is mixed in by a multiplication.
fn hash(text: &str) -> u32 {
    const MIX: u64 = 0x9E37_79B9_7F4A_7C15;
    let mix = |hash: u64, word: u64| (hash.rotate_left(25) ^ word).wrapping_mul(MIX);
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let hash = words.iter().fold(text.len() as u64, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let hash = mix(hash, u64::from_le_bytes(last));
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_place_and_texts_with_the_same_hash_have_two() {
        let (mut places, mut texts) = (Places::default(), Texts::default());
        let text = |number: u32| "x".repeat(number as usize % 40) + &number.to_string();
        for _ in 0..2 {
            for number in 0..1000 {
                assert_eq!(places.find_or_push(&text(number), &mut texts), number);
            }
        }
        assert_eq!(texts.len(), 1000);
        let again = Places::of(&texts);
        assert!((0..1000).all(|number| again.find(&text(number), &texts) == Some(number)));
        assert_eq!((again.find("another", &texts), Places::default().find("", &Texts::default())), (None, None));
        // The same hash, as if they collided.
        let (mut places, mut texts) = (Places::default(), Texts::default());
        for (place, text) in (0..).zip(["a", "b"]) {
            texts.push(text);
            places.insert(7, place);
        }
        assert_eq!((places.found(7, "b", &texts), places.found(7, "c", &texts)), (Some(1), None));
    }
}
