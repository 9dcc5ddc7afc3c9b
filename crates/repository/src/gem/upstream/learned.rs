//! Facts that `/info` files reveal and `/versions` does not: the MD5 of a filtered file, and dates. Each log of a view
//! checks the affected names again. There are several such logs, and each reads all facts.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Mutex;
use telemetry::lock;

/// Maximum number of stored MD5s.
const MD5S_MAX: usize = 10_000;
/// Maximum number of names that are kept for logs that have not read them. A log that is further behind checks all
/// names.
const NEWS_MAX: usize = 10_000;

/// The learned facts.
#[derive(Debug, Default)]
pub(crate) struct Learned(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    /// The MD5s, by the input that a file is made from.
    md5s: HashMap<String, String>,
    /// The names with new facts, oldest first. They are numbered; this many before them were dropped.
    news: VecDeque<Box<str>>,
    forgotten: u64,
}

/// The facts that were learned after a number.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct News {
    /// The names with new facts; `None`: too many to list.
    pub(crate) names: Option<BTreeSet<String>>,
    /// The number up to which this is complete.
    pub(crate) until: u64,
}

impl Learned {
    /// Stores the MD5 of a gem's file that is made from `basis`.
    pub(crate) fn learn(&self, name: &str, basis: String, md5: String) {
        let mut told = lock(&self.0);
        if told.md5s.get(&basis) == Some(&md5) {
            return;
        }
        if told.md5s.len() >= MD5S_MAX && !told.md5s.contains_key(&basis) {
            told.md5s.clear();
        }
        told.md5s.insert(basis, md5);
        told.note(name);
    }

    /// The MD5 of the file that is made from `basis`.
    pub(crate) fn md5(&self, basis: &str) -> Option<String> {
        lock(&self.0).md5s.get(basis).cloned()
    }

    /// Records that there are new facts about a gem.
    pub(crate) fn note(&self, name: &str) {
        lock(&self.0).note(name);
    }

    /// Whether there are facts after this number; 0: since the start.
    pub(crate) fn has_news(&self, since: u64) -> bool {
        lock(&self.0).last() != since
    }

    /// The names with facts after this number; 0: since the start.
    pub(crate) fn news(&self, since: u64) -> News {
        let told = lock(&self.0);
        let read = since.checked_sub(told.forgotten).and_then(|read| usize::try_from(read).ok());
        let read = read.filter(|read| *read <= told.news.len());
        let names = read.map(|read| told.news.iter().skip(read).map(|name| name.to_string()).collect());
        News { names, until: told.last() }
    }

    /// The number of the last fact.
    pub(crate) fn last(&self) -> u64 {
        lock(&self.0).last()
    }
}

impl Told {
    fn note(&mut self, name: &str) {
        self.news.push_back(name.into());
        if self.news.len() > NEWS_MAX {
            self.news.pop_front();
            self.forgotten += 1;
        }
    }

    fn last(&self) -> u64 {
        self.forgotten + self.news.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_reader_is_told_of_all_names_since_it_read_last_or_that_they_are_too_many() {
        let learned = Learned::default();
        assert!(!learned.has_news(0));
        learned.learn("lamp", "a".into(), "x".into());
        learned.learn("lamp", "a".into(), "x".into());
        learned.note("oil");
        let news = |since| learned.news(since);
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>());
        assert_eq!(news(0), News { names: names(&["lamp", "oil"]), until: 2 });
        assert_eq!(news(1), News { names: names(&["oil"]), until: 2 });
        assert_eq!((news(2), learned.has_news(2)), (News { names: names(&[]), until: 2 }, false));
        assert_eq!((news(0).names, learned.has_news(0)), (names(&["lamp", "oil"]), true));
        (0..NEWS_MAX).for_each(|n| learned.note(&n.to_string()));
        let until = 2 + NEWS_MAX as u64;
        assert_eq!((news(1), news(until + 1).names), (News { names: None, until }, None));
        assert_eq!(news(2).names.unwrap().len(), NEWS_MAX);
        assert_eq!((learned.md5("a"), learned.md5("b")), (Some("x".into()), None));
    }
}
