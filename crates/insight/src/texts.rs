//! Many texts in one piece of memory.

use std::ops::Index;

/// Texts in one piece of memory: a text costs its bytes and eight more, and reading a hundred thousand of them allocates twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Texts {
    all: String,
    /// For each text the place behind its last byte.
    ends: Vec<usize>,
}

impl Texts {
    /// Appends a text. Its place is the number of texts before it.
    pub fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.ends.push(self.all.len());
    }

    /// Makes room for more texts and their bytes.
    pub fn reserve(&mut self, texts: usize, bytes: usize) {
        self.ends.reserve(texts);
        self.all.reserve(bytes);
    }

    /// The texts that end at these places of a piece of memory. `None`: it is not UTF-8, or a text begins or ends within a character.
    pub(crate) fn of(all: Vec<u8>, ends: Vec<usize>) -> Option<Self> {
        let all = String::from_utf8(all).ok()?;
        (ends.is_sorted() && ends.iter().all(|end| all.is_char_boundary(*end))).then_some(Self { all, ends })
    }

    /// The number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The text at a place.
    pub fn get(&self, place: usize) -> Option<&str> {
        let end = *self.ends.get(place)?;
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.all.get(begin..end)
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        (0..self.len()).map(|place| &self[place])
    }

    /// The bytes of memory that they take.
    pub fn bytes(&self) -> usize {
        self.all.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

impl Index<usize> for Texts {
    type Output = str;

    /// The text at a place. Empty if there is none.
    fn index(&self, place: usize) -> &str {
        self.get(place).unwrap_or_default()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Texts {
    fn from_iter<I: IntoIterator<Item = S>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text.as_ref()));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back_in_their_order_with_empty_ones() {
        let texts: Texts = ["a", "", "ü", "bc", ""].into_iter().collect();
        assert_eq!(texts.iter().collect::<Vec<_>>(), ["a", "", "ü", "bc", ""]);
        assert_eq!((&texts[2], texts.get(5), texts.len()), ("ü", None, 5));
        assert_eq!(Texts::of("aübc".into(), vec![1, 1, 3, 5, 5]), Some(texts));
        assert_eq!([vec![2], vec![3, 1], vec![6]].map(|ends| Texts::of("aübc".into(), ends)), [None, None, None]);
        assert_eq!(Texts::of(vec![0xFF], vec![1]), None);
    }
}
