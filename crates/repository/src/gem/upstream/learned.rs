//! What files of `/info` told that lines of `/versions` do not: the MD5 of a file of which a part is hidden, and dates. Whoever keeps a log
//! of what may be seen looks at these names again.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most gems that are remembered.
const GEMS_MAX: usize = 10_000;

/// What was told.
#[derive(Debug, Default)]
pub(crate) struct Learned(Mutex<Told>);

#[derive(Debug, Default)]
struct Told {
    /// By name: what the file is made of, and its MD5.
    md5s: HashMap<String, Md5>,
    /// The names that were not looked at since.
    news: BTreeSet<String>,
    /// Whether there were more.
    many: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Md5 {
    basis: String,
    md5: String,
}

impl Learned {
    /// That this is the MD5 of the file of a gem that is made of `basis`.
    pub(crate) fn learn(&self, name: &str, basis: String, md5: String) {
        let (mut told, new) = (self.told(), Md5 { basis, md5 });
        if told.md5s.get(name) == Some(&new) {
            return;
        }
        if told.md5s.len() >= GEMS_MAX && !told.md5s.contains_key(name) {
            told.md5s.clear();
        }
        told.md5s.insert(name.to_owned(), new);
        told.note(name);
    }

    /// The MD5 of the file of a gem that is made of `basis`.
    pub(crate) fn md5(&self, name: &str, basis: &str) -> Option<String> {
        self.told().md5s.get(name).filter(|told| told.basis == basis).map(|told| told.md5.clone())
    }

    /// That something else is known of a gem.
    pub(crate) fn note(&self, name: &str) {
        self.told().note(name);
    }

    /// Whether something was told since that was asked last.
    pub(crate) fn has_news(&self) -> bool {
        let told = self.told();
        told.many || !told.news.is_empty()
    }

    /// The names that something was told of since this was asked last; `None`: too many to tell.
    pub(crate) fn news(&self) -> Option<BTreeSet<String>> {
        let mut told = self.told();
        let (news, many) = (std::mem::take(&mut told.news), std::mem::take(&mut told.many));
        (!many).then_some(news)
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn note(&mut self, name: &str) {
        match self.news.len() < GEMS_MAX {
            true => drop(self.news.insert(name.to_owned())),
            false => self.many = true,
        }
    }
}
