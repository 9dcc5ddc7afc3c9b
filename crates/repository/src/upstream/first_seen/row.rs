//! A row of the journal: the new part of one observation of a folder.

use crate::upstream::first_seen::history::{FolderHistory, Plugin};
use crate::upstream::release_age::AgeRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use telemetry::Millis;

/// Maximum length of a recorded name of a version or plugin, in bytes. File systems accept no longer names.
pub(crate) const NAME_MAX: usize = 255;

/// A folder with fewer rows gets no summary row.
const ROWS: usize = 64;
/// The size of a row, measured in versions of a summary row.
const ROW_WORTH: usize = 8;

/// Names of versions by the date that their age counts from. The versions of one document share a date, so a further
/// one costs only its name.
type Versions = BTreeMap<Millis, Vec<String>>;

/// The new facts about a folder. The moment of the row is the first sight of all of them, except for versions that
/// earlier rows have: for these the row changes the date that their age counts from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct News {
    /// Whether a complete list of the folder was seen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) listed: bool,
    /// Versions for which another date may still be believed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) open: Versions,
    /// Versions whose date is final.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) settled: Versions,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) plugins: BTreeMap<String, Plugin>,
    /// Whether POMs were requested for their dates, and whether that brought any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) looked: Option<bool>,
    /// How many consecutive requests of that kind brought no date, if the rows do not show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) in_vain: Option<u32>,
    /// In a summary row: the first sights at earlier moments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<(Millis, News)>,
    /// Whether the folder has units of the earlier form, which are read first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) older: bool,
}

impl News {
    /// Adds a version.
    pub(crate) fn version(&mut self, name: &str, met: AgeRecord) {
        let versions = if met.open { &mut self.open } else { &mut self.settled };
        versions.entry(met.since).or_default().push(name.to_owned());
    }

    /// Whether the row is empty.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self { older: self.older, ..Self::default() }
    }
}

impl FolderHistory {
    /// Adds the facts of a row that was written at `at`.
    pub(crate) fn learn(&mut self, at: Millis, news: News) {
        for (at, earlier) in news.earlier {
            self.learn(at, earlier);
        }
        self.listed |= news.listed;
        self.older |= news.older;
        for (versions, open) in [(news.open, true), (news.settled, false)] {
            for (since, names) in versions {
                for name in names {
                    let seen = self.versions.get(&name).map_or(at, |met| met.seen);
                    self.versions.insert(name, AgeRecord { seen, since, open });
                }
            }
        }
        self.plugins.extend(news.plugins);
        if let Some(told) = news.looked {
            self.looked = Some(at);
            self.in_vain = if told { 0 } else { self.in_vain.saturating_add(1) };
        }
        self.in_vain = news.in_vain.unwrap_or(self.in_vain);
    }
}

impl FolderHistory {
    /// Whether a summary row is due, because reading all rows costs more than the facts are worth.
    pub(crate) fn has_many_rows(&self) -> bool {
        self.rows >= ROWS && self.rows * ROW_WORTH >= self.versions.len() + self.plugins.len()
    }

    /// The summary row.
    pub(crate) fn whole(self) -> News {
        let mut earlier: BTreeMap<Millis, News> = BTreeMap::from([(self.seen, News::default())]);
        for (name, met) in &self.versions {
            earlier.entry(met.seen).or_default().version(name, *met);
        }
        if let Some(looked) = self.looked {
            let at = earlier.entry(looked).or_default();
            (at.looked, at.in_vain) = (Some(self.in_vain == 0), Some(self.in_vain));
        }
        let (listed, plugins) = (self.listed, self.plugins);
        News { listed, plugins, earlier: earlier.into_iter().collect(), ..News::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_add_up_and_a_version_stays_seen_when_it_was() {
        let (first, later) = (Millis(1_000), Millis(2_000));
        let mut folder = FolderHistory { seen: first, ..FolderHistory::default() };
        let mut row = News { listed: true, looked: Some(false), ..News::default() };
        row.version("1", AgeRecord { seen: first, since: Millis(7), open: true });
        row.version("2", AgeRecord { seen: first, since: Millis(7), open: true });
        let written = serde_json::to_string(&row).unwrap();
        assert_eq!(written, r#"{"listed":true,"open":{"7":["1","2"]},"looked":false}"#);
        folder.learn(first, serde_json::from_str(&written).unwrap());
        let mut dated = News::default();
        assert!(dated.is_empty());
        dated.version("2", AgeRecord { seen: later, since: Millis(5), open: false });
        dated.version("3", AgeRecord { seen: later, since: later, open: false });
        folder.learn(later, dated);
        assert_eq!(folder.versions["1"], AgeRecord { seen: first, since: Millis(7), open: true });
        assert_eq!(folder.versions["2"], AgeRecord { seen: first, since: Millis(5), open: false });
        assert_eq!(folder.versions["3"], AgeRecord { seen: later, since: later, open: false });
        assert_eq!((folder.listed, folder.looked, folder.in_vain), (true, Some(first), 1));
        // Reading the summary row gives the same facts.
        let whole = serde_json::to_string(&folder.clone().whole()).unwrap();
        let mut again = FolderHistory { seen: first, ..FolderHistory::default() };
        again.learn(Millis(9_000), serde_json::from_str(&whole).unwrap());
        assert_eq!(again, folder);
    }
}
