//! An observation of an upstream, and the part of it that is new.

use crate::upstream::first_seen::history::{FolderHistory, Plugin};
use crate::upstream::first_seen::row::{NAME_MAX, News};
use crate::upstream::release_age::{KnownAge, ReportedDate};
use std::collections::HashSet;
use telemetry::Millis;

/// Maximum number of recorded versions and plugins of a folder, more than any artifact has. The ages of others stay
/// unknown.
const MET_MAX: usize = 20_000;

/// An observation of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Observation {
    pub(crate) folder: String,
    /// Versions with their reported dates.
    pub(crate) versions: Vec<(String, ReportedDate)>,
    /// Whether the list of versions is complete.
    pub(crate) listed: bool,
    /// Plugins, by artifact name.
    pub(crate) plugins: Vec<(String, Plugin)>,
    /// Whether POMs were requested for their dates, and whether that brought any.
    pub(crate) looked: Option<bool>,
}

impl Observation {
    /// The new part of the observation, given the known facts; `None`: nothing is new.
    pub(crate) fn news(&self, before: Option<&FolderHistory>, now: Millis) -> Option<News> {
        let nothing = FolderHistory { seen: now, ..FolderHistory::default() };
        let known = before.unwrap_or(&nothing);
        let mut room = MET_MAX.saturating_sub(known.versions.len() + known.plugins.len());
        let mut news = News { listed: self.listed && !known.listed, older: known.older, ..News::default() };
        let mut told = HashSet::new();
        for (version, date) in &self.versions {
            let had = known.versions.get(version);
            let met = had.map_or_else(|| known.unmet(), |had| KnownAge::Seen(*had)).told(*date, now);
            if had == Some(&met) || version.len() > NAME_MAX || had.is_none() && room == 0 || !told.insert(version) {
                continue;
            }
            room -= usize::from(had.is_none());
            news.version(version, met);
        }
        for (artifact, plugin) in &self.plugins {
            let had = known.plugins.get(artifact);
            let long = [artifact, &plugin.prefix].into_iter().chain(&plugin.name).any(|text| text.len() > NAME_MAX);
            let told = news.plugins.contains_key(artifact);
            if had == Some(plugin) || long || had.is_none() && room == 0 || told {
                continue;
            }
            room -= usize::from(had.is_none());
            news.plugins.insert(artifact.clone(), plugin.clone());
        }
        news.looked = self.looked;
        // The existence of the folder is new as well.
        (before.is_none() || !news.is_empty()).then_some(news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::release_age::AgeRecord;

    const NOW: Millis = Millis(1_000);

    fn listed(versions: impl IntoIterator<Item = String>) -> Observation {
        let told = ReportedDate { date: Some(Millis(10)), bound: true };
        Observation {
            folder: "org/lamp".into(),
            versions: versions.into_iter().map(|version| (version, told)).collect(),
            listed: true,
            plugins: vec![("lamp".into(), Plugin { prefix: "light".into(), name: None })],
            looked: None,
        }
    }

    /// The rows of a folder, as they would be read back.
    #[derive(Debug, Default)]
    struct Journal(Option<FolderHistory>);

    impl Journal {
        /// Returns the size of the new row in bytes; 0: there is none.
        fn see(&mut self, sight: &Observation, now: Millis) -> usize {
            let Some(news) = sight.news(self.0.as_ref(), now) else { return 0 };
            let row = serde_json::to_string(&news).unwrap();
            let folder = self.0.get_or_insert_with(|| FolderHistory { seen: now, ..FolderHistory::default() });
            folder.learn(now, serde_json::from_str(&row).unwrap());
            row.len()
        }

        fn met(&self, version: &str) -> AgeRecord {
            self.0.as_ref().unwrap().versions[version]
        }
    }

    #[test]
    fn one_version_more_is_a_row_of_its_own_bytes_however_many_there_are() {
        let mut journal = Journal::default();
        let many: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        assert!(journal.see(&listed(many.clone()), NOW) < 500 * 6 + 100);
        assert_eq!(journal.see(&listed(many.clone()), Millis(2_000)), 0);
        let more = many.into_iter().chain(["new".to_owned()]);
        assert_eq!(journal.see(&listed(more), Millis(3_000)), r#"{"settled":{"3000":["new"]}}"#.len());
        assert_eq!(journal.met("new"), AgeRecord { seen: Millis(3_000), since: Millis(3_000), open: false });
        assert_eq!(journal.met("7"), AgeRecord { seen: NOW, since: Millis(10), open: true });
        let folder = journal.0.unwrap();
        assert!(folder.listed && folder.seen == NOW && folder.plugins["lamp"].prefix == "light");
    }

    #[test]
    fn what_poms_tell_is_written_with_when_they_were_looked_for() {
        let mut journal = Journal::default();
        journal.see(&listed(["1".to_owned(), "2".to_owned()]), NOW);
        let told = ReportedDate { date: Some(Millis(5)), bound: false };
        let turn = |versions, looked| Observation {
            folder: "org/lamp".into(),
            versions,
            looked: Some(looked),
            ..Observation::default()
        };
        assert!(journal.see(&turn(vec![("1".to_owned(), told)], true), Millis(2_000)) > 0);
        assert_eq!(journal.met("1"), AgeRecord { seen: NOW, since: Millis(5), open: false });
        assert!(journal.see(&turn(Vec::new(), false), Millis(3_000)) > 0);
        let folder = journal.0.unwrap();
        assert!(folder.looked == Some(Millis(3_000)) && folder.in_vain == 1);
    }

    #[test]
    fn versions_and_plugins_have_an_end_so_that_no_upstream_fills_the_journal() {
        let mut journal = Journal::default();
        journal.see(&listed((0..MET_MAX + 5).map(|number| number.to_string())), NOW);
        let folder = journal.0.as_ref().unwrap();
        assert_eq!(folder.versions.len() + folder.plugins.len(), MET_MAX);
        assert_eq!(journal.see(&listed(["other".to_owned()]), Millis(2_000)), 0);
        let told = ReportedDate { date: None, bound: true };
        let versions = vec![("yet-another".to_owned(), told)];
        let file = Observation { folder: "org/lamp".into(), versions, ..Observation::default() };
        assert_eq!(journal.see(&file, Millis(2_000)), 0);
        let mut journal = Journal::default();
        journal.see(&listed(["1".to_owned(), "9".repeat(NAME_MAX + 1)]), NOW);
        assert_eq!(journal.0.unwrap().versions.len(), 1);
    }
}
