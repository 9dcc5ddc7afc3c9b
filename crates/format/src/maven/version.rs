//! Orders versions as Maven does (`ComparableVersion` of Maven 3.8 and 3.9).
//!
//! Maven reads a version as nested lists: a dash, and each change between letters and digits, begins a list inside
//! the one before, always as its last element. So a version is stored as a row of lists, and two versions are
//! compared list by list.
//!
//! Maven's own order has circles (`1-0.alpha` < `1` < `1-sp` < `1-0.alpha`), which cannot be sorted. Two more rules
//! make it an order: a word begins a list everywhere, not only at the end of a version; and a list whose only element
//! is a list that begins with a word is equal to that list. Unlike Maven 3, Maven 4 treats a word and its number as
//! one element.

use std::cmp::Ordering;
use std::fmt;

/// A version in its original spelling. Equal and ordered as in Maven: `1.0` and `1` are equal, `1.0-rc1` is before
/// `1.0`. Compare [`Version::as_str`] where the spelling matters.
#[derive(Debug, Clone)]
pub struct Version {
    text: String,
    /// The outermost list first, which has only numbers. Insignificant parts are removed: see
    /// [`Version::without_nothing`].
    lists: Vec<List>,
}

/// The elements of one list, without the nested list. Both may be missing.
#[derive(Debug, Clone, Default)]
struct List {
    word: Option<Word>,
    numbers: Vec<Number>,
}

/// A word: its rank among the known words, then the word if it is not known.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Word(usize, String);

/// The number of digits, and the digits without leading zeros. So a longer number is greater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Number(usize, String);

/// The known words, from the earliest. The empty word is the release.
const KNOWN: [&str; 7] = ["alpha", "beta", "milestone", "rc", "snapshot", "", "sp"];
const RELEASE: usize = 5;

impl Word {
    fn new(text: &str, before_digit: bool) -> Self {
        let full = match text {
            "a" if before_digit => "alpha",
            "b" if before_digit => "beta",
            "m" if before_digit => "milestone",
            "ga" | "final" | "release" => "",
            "cr" => "rc",
            _ => text,
        };
        match KNOWN.iter().position(|known| *known == full) {
            Some(place) => Word(place, String::new()),
            None => Word(KNOWN.len(), full.to_owned()),
        }
    }
}

impl Number {
    fn new(digits: &str) -> Self {
        let digits = digits.trim_start_matches('0');
        Number(digits.len(), digits.to_owned())
    }
}

impl Version {
    /// Parses a version. Any text is one.
    pub fn new(text: &str) -> Self {
        let lower = text.to_lowercase();
        let (mut lists, mut list) = (Vec::new(), List::default());
        for (part, end) in parts(&lower) {
            if part.is_empty() || part.starts_with(|c: char| c.is_ascii_digit()) {
                list.numbers.push(Number::new(part));
            } else {
                // The outermost list has only numbers: a version that begins with a word comes after a `0`.
                if lists.is_empty() || list.begun() {
                    lists.push(std::mem::take(&mut list));
                }
                list.word = Some(Word::new(part, end == End::Change));
            }
            if matches!(end, End::Dash | End::Change) {
                lists.push(std::mem::take(&mut list));
            }
        }
        lists.push(list);
        Self { text: text.to_owned(), lists: Self::without_nothing(lists) }
    }

    /// Its original spelling.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Removes insignificant parts: zeros and words for a release at the end of lists, and empty lists.
    fn without_nothing(mut lists: Vec<List>) -> Vec<List> {
        for list in &mut lists {
            while list.numbers.last().is_some_and(|number| number.0 == 0) {
                list.numbers.pop();
            }
            list.word.take_if(|word| list.numbers.is_empty() && word.0 == RELEASE);
        }
        while lists.last().is_some_and(|list| !list.begun()) {
            lists.pop();
        }
        for at in (1..lists.len().saturating_sub(1)).rev() {
            if !lists[at].begun() && lists[at + 1].word.is_some() {
                lists.remove(at);
            }
        }
        lists
    }
}

impl List {
    const NOTHING: &'static List = &List { word: None, numbers: Vec::new() };

    /// Whether it has an element.
    fn begun(&self) -> bool {
        self.word.is_some() || !self.numbers.is_empty()
    }
}

/// The first element of a list. A word is less than a list, and a list less than a number.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum First<'a> {
    Word(usize, &'a str),
    List,
    Number,
}

impl<'a> First<'a> {
    /// The first element of these lists. Without any list it is a release.
    fn of(lists: &'a [List]) -> Self {
        match lists.first() {
            None => First::Word(RELEASE, ""),
            Some(List { word: Some(word), .. }) => First::Word(word.0, &word.1),
            Some(list) if list.numbers.is_empty() => First::List,
            Some(_) => First::Number,
        }
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let (mut mine, mut theirs) = (&*self.lists, &*other.lists);
        let mut outermost = true;
        while !(mine.is_empty() && theirs.is_empty()) {
            let order = if outermost { Ordering::Equal } else { First::of(mine).cmp(&First::of(theirs)) };
            outermost = false;
            let (a, b) = (mine.first().unwrap_or(List::NOTHING), theirs.first().unwrap_or(List::NOTHING));
            // Where the numbers of one version end, a list or nothing follows. Both are less than any number.
            let order = order.then_with(|| a.numbers.cmp(&b.numbers));
            if order.is_ne() {
                return order;
            }
            (mine, theirs) = (mine.get(1..).unwrap_or_default(), theirs.get(1..).unwrap_or_default());
        }
        Ordering::Equal
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// The end of a part of a version.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Dot,
    Dash,
    /// A letter after a digit, or a digit after a letter.
    Change,
    Text,
}

/// The parts of a version, each of letters or of digits, and what ends it. Between two dots there is an empty part.
fn parts(text: &str) -> Vec<(&str, End)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest.starts_with(|c: char| c.is_ascii_digit());
        let end = rest.find(|c: char| c == '.' || c == '-' || c.is_ascii_digit() != digits).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let (how, skip) = match after.as_bytes().first() {
            None => (End::Text, 0),
            Some(b'.') => (End::Dot, 1),
            Some(b'-') => (End::Dash, 1),
            Some(_) => (End::Change, 0),
        };
        parts.push((part, how));
        rest = &after[skip..];
    }
    parts
}

#[cfg(test)]
mod tests;
