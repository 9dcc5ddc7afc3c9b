//! A column of texts in memory: a list of the texts that occur, and for each row the place of its text.

use super::ints::Ints;
use crate::interner::Interner;
use crate::part::Coded;
use crate::texts::Texts;
use std::sync::Arc;

/// A column of texts.
#[derive(Debug, Clone, Default)]
pub(super) struct TextColumn {
    list: List,
    codes: Ints,
}

/// The texts that occur.
#[derive(Debug, Clone)]
enum List {
    /// In the order of their first rows, with the text and the code of the last row.
    Filling { texts: Interner, last: (String, u32) },
    /// In the order of their bytes, each once.
    Sorted(Arc<Texts>),
}

impl Default for List {
    fn default() -> Self {
        List::Sorted(Arc::default())
    }
}

impl TextColumn {
    /// A list of texts and codes that were stored. `None`: they do not fit together.
    pub(super) fn stored(texts: Texts, codes: Ints) -> Option<Self> {
        let sorted = texts.iter().zip(texts.iter().skip(1)).all(|(one, next)| one < next);
        let (low, high) = codes.range().unwrap_or((0, -1));
        let fits = low >= 0 && high < i64::try_from(texts.len()).ok()?;
        (sorted && fits).then(|| Self { list: List::Sorted(texts.into()), codes })
    }

    /// Appends a text.
    pub(super) fn push(&mut self, text: &str) {
        if let List::Sorted(sorted) = &self.list {
            let mut texts = Interner::from(Texts::clone(sorted));
            let code = texts.intern(text);
            self.list = List::Filling { texts, last: (text.to_owned(), code) };
        }
        let List::Filling { texts, last } = &mut self.list else { return };
        // Most rows have the text of the row before.
        if last.0 != text {
            last.0.clear();
            last.0.push_str(text);
            last.1 = texts.intern(text);
        }
        self.codes.push(i64::from(last.1));
    }

    /// Sorts the texts, and makes the codes as narrow as possible.
    pub(super) fn narrow(&mut self) {
        let List::Filling { texts, .. } = &self.list else { return };
        let texts = texts.texts();
        if texts.len() == 1 {
            // Its code is 0 in all rows.
            self.list = List::Sorted(Arc::new(exact(texts.iter())));
            return;
        }
        let mut order: Vec<(&str, usize)> = texts.iter().zip(0..).collect();
        order.sort_unstable();
        let mut places = vec![0; order.len()];
        for (place, (_, code)) in order.iter().enumerate() {
            places[*code] = place as i64;
        }
        self.codes = Ints::of(self.codes.codes().iter().map(|code| places[*code as usize]).collect());
        self.list = List::Sorted(Arc::new(exact(order.iter().map(|(text, _)| *text))));
    }

    /// All rows of several columns, one column after the other.
    pub(super) fn join<'a>(columns: impl Iterator<Item = &'a TextColumn> + Clone) -> Self {
        let lists: Vec<Arc<Texts>> = columns.clone().map(Self::list).collect();
        let codes = columns.clone().map(|column| &column.codes);
        let Some(first) = lists.first() else { return Self::default() };
        let sorted = columns.clone().all(|column| matches!(column.list, List::Sorted(_)));
        if sorted && lists.iter().all(|list| list == first) {
            return Self { list: List::Sorted(first.clone()), codes: Ints::join(codes) };
        }
        let mut all: Vec<(&str, usize, usize)> = Vec::with_capacity(lists.iter().map(|list| list.len()).sum());
        for (column, list) in lists.iter().enumerate() {
            all.extend(list.iter().enumerate().map(|(code, text)| (text, column, code)));
        }
        // A merge: the lists are sorted, and a stable sort finds such runs.
        all.sort_by_key(|(text, ..)| *text);
        let mut places: Vec<Vec<i64>> = lists.iter().map(|list| vec![0; list.len()]).collect();
        let mut texts: Vec<&str> = Vec::new();
        for (text, column, code) in all {
            if texts.last() != Some(&text) {
                texts.push(text);
            }
            places[column][code] = texts.len() as i64 - 1;
        }
        let mut joined = Vec::with_capacity(codes.clone().map(Ints::rows).sum());
        for (codes, places) in codes.zip(&places) {
            joined.extend(codes.codes().iter().map(|code| places[*code as usize]));
        }
        Self { list: List::Sorted(Arc::new(exact(texts.into_iter()))), codes: Ints::joined(joined) }
    }

    /// The texts that occur, in the order of the codes.
    pub(super) fn list(&self) -> Arc<Texts> {
        match &self.list {
            List::Filling { texts, .. } => Arc::new(texts.texts().clone()),
            List::Sorted(texts) => texts.clone(),
        }
    }

    /// For each row the place of its text.
    pub(super) fn codes(&self) -> &Ints {
        &self.codes
    }

    /// Whether a row has the text.
    pub(super) fn has(&self, text: &str) -> bool {
        match &self.list {
            List::Filling { texts, .. } => texts.find(text).is_some(),
            List::Sorted(texts) => find(texts, text),
        }
    }

    /// The cells, as questions read them.
    pub(super) fn coded(&self) -> Coded {
        Coded { texts: self.list(), codes: self.codes.codes() }
    }

    /// The memory that the column takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let list = match &self.list {
            List::Filling { texts, .. } => texts.bytes(),
            List::Sorted(texts) => texts.bytes(),
        };
        list + self.codes.bytes()
    }
}

/// These texts, in no more memory than they need.
fn exact<'a>(texts: impl ExactSizeIterator<Item = &'a str> + Clone) -> Texts {
    let mut exact = Texts::default();
    exact.reserve(texts.len(), texts.clone().map(str::len).sum());
    texts.for_each(|text| exact.push(text));
    exact
}

/// Whether a sorted list has the text.
fn find(sorted: &Texts, text: &str) -> bool {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = low.midpoint(high);
        match sorted[middle].cmp(text) {
            std::cmp::Ordering::Less => low = middle + 1,
            std::cmp::Ordering::Greater => high = middle,
            std::cmp::Ordering::Equal => return true,
        }
    }
    false
}
