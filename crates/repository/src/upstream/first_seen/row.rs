//! One row of the journal: what a refresh of a folder showed that was not known before.

use crate::upstream::first_seen::history::{FolderHistory, Plugin};
use crate::upstream::release_age::AgeRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use telemetry::Millis;

/// Longest name of a version or a plugin that is written down, in bytes: file systems of upstreams take no longer ones.
pub(crate) const NAME_MAX: usize = 255;

/// Fewer rows of a folder are read as they are.
const ROWS: usize = 64;
/// A row of its own takes as many bytes as so many versions in one that says everything.
const ROW_WORTH: usize = 8;

/// Names of versions by the moment since which they exist. Those of one document share it, so one more costs its name.
type Versions = BTreeMap<Millis, Vec<String>>;

/// What is new of a folder. All of it was seen first at the moment of the row, but for versions that rows before have: of these it
/// says since when they exist, as is believed from now on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct News {
    /// Whether a list of all that the folder has was seen.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) listed: bool,
    /// Versions of which another date may be believed.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) open: Versions,
    /// Versions whose date is settled.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) settled: Versions,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) plugins: BTreeMap<String, Plugin>,
    /// Whether POMs were looked for, and told anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) looked: Option<bool>,
    /// How often in sequence that told nothing by then, where that is not to be counted from the rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) in_vain: Option<u32>,
    /// In a row that says everything: what was seen first at moments before it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) earlier: Vec<(Millis, News)>,
    /// Whether the folder has units of the form before this one, which are read first.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) older: bool,
}

impl News {
    /// Adds a version.
    pub(crate) fn version(&mut self, name: &str, met: AgeRecord) {
        let versions = if met.open { &mut self.open } else { &mut self.settled };
        versions.entry(met.since).or_default().push(name.to_owned());
    }

    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self { older: self.older, ..Self::default() }
    }
}

impl FolderHistory {
    /// Adds what a row of this moment says.
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
    /// Whether it is time for a row that says everything: there are so many rows that reading them costs more than what they say.
    pub(crate) fn has_many_rows(&self) -> bool {
        self.rows >= ROWS && self.rows * ROW_WORTH >= self.versions.len() + self.plugins.len()
    }

    /// All of it in one row.
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
        // All of it in one row is the same again.
        let whole = serde_json::to_string(&folder.clone().whole()).unwrap();
        let mut again = FolderHistory { seen: first, ..FolderHistory::default() };
        again.learn(Millis(9_000), serde_json::from_str(&whole).unwrap());
        assert_eq!(again, folder);
    }
}
