//! What somebody saw of an upstream now, and what that adds to what had been seen.

use super::age::{Known, Met, Told};
use super::sightings::{Folder, Listed, Plugin, Says, Units};
use format::maven::metadata::{self, Metadata, moment_of};
use format::maven::path;
use format::maven::snapshot::Build;
use std::collections::BTreeMap;
use telemetry::Millis;

/// Most versions and plugins of a folder that are remembered: more than any artifact has. The age of others stays unknown.
const MET_MAX: usize = 20_000;

/// Most versions that are written at once.
const PART: usize = 1_000;

/// What was seen of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sight {
    pub(super) folder: String,
    /// Versions, and what was told of the age of each.
    pub(super) versions: Vec<(String, Told)>,
    /// Whether these are all that there are.
    pub(super) listed: bool,
    pub(super) plugins: Vec<metadata::Plugin>,
    /// Whether POMs were looked for, and told anything.
    pub(super) looked: Option<bool>,
}

impl Sight {
    /// What the file at `path` tells, of which the upstream says when it was last changed.
    pub(super) fn of_file(path: &str, modified: Option<Millis>) -> Vec<Self> {
        let Some(Listed { folder, version }) = Listed::at(path) else { return Vec::new() };
        let above = Self::of_snapshot(folder);
        // A build says itself when it was made.
        let made = version.as_deref().and_then(made).filter(|_| above.is_some());
        let date = made.or(modified);
        let told = Told { date, bound: date.is_none() };
        let versions: Vec<_> = version.map(|version| (version, told)).into_iter().collect();
        let listed = versions.is_empty();
        let here = Self { folder: folder.to_owned(), versions, listed, ..Self::default() };
        [here].into_iter().chain(above).collect()
    }

    /// What the document of this folder tells, if it is one that does.
    pub(super) fn of_document(folder: &str, document: &Metadata, modified: Option<Millis>) -> Vec<Self> {
        let here = Self { folder: folder.to_owned(), listed: true, ..Self::default() };
        if let Some(above) = Self::of_snapshot(folder) {
            let told = |build: &str| (build.to_owned(), Told { date: made(build), bound: false });
            return vec![Self { versions: builds(document).map(|build| told(&build)).collect(), ..here }, above];
        }
        let date = document.updated.as_deref().and_then(moment_of).map(Millis).or(modified);
        let latest = [&document.latest, &document.release].into_iter().flatten();
        let versions = document.versions.iter().chain(latest).map(|version| {
            // The files of a snapshot tell nothing of when its first build came.
            (version.clone(), Told { date, bound: !path::is_snapshot(version) })
        });
        vec![Self { versions: versions.collect(), plugins: document.plugins.clone(), ..here }]
    }

    /// That there is the snapshot of this folder, if it is one of a snapshot.
    fn of_snapshot(folder: &str) -> Option<Self> {
        let (above, version) = folder.rsplit_once('/').filter(|(_, version)| path::is_snapshot(version))?;
        let versions = vec![(version.to_owned(), Told { date: None, bound: true })];
        Some(Self { folder: above.to_owned(), versions, ..Self::default() })
    }

    /// The same in parts that are written one after the other, so that nobody waits long for a place between: all of it is told with
    /// the last.
    pub(super) fn parts(self) -> impl Iterator<Item = Self> {
        let Self { folder, mut versions, listed, plugins, looked } = self;
        let mut parts = Vec::new();
        while versions.len() > PART {
            let rest = versions.split_off(PART);
            let some = std::mem::replace(&mut versions, rest);
            parts.push(Self { folder: folder.clone(), versions: some, ..Self::default() });
        }
        parts.push(Self { folder, versions, listed, plugins, looked });
        parts.into_iter()
    }

    /// What is new of it, given what is known of the folder: the units that change, the folder's among them.
    pub(super) fn news(
        &self,
        of: Units,
        (before, versions, plugins): (Option<&Folder>, &BTreeMap<String, Met>, &BTreeMap<String, Plugin>),
        now: Millis,
    ) -> Option<Vec<(String, Says)>> {
        let nothing = Folder { seen: now, ..Folder::default() };
        let mut after = before.unwrap_or(&nothing).clone();
        let unmet = after.unmet();
        let mut changes = BTreeMap::new();
        let mut room = MET_MAX.saturating_sub(after.met);
        for (version, told) in &self.versions {
            let had = versions.get(version);
            let met = had.map_or(unmet, |had| Known::Met(*had)).told(*told, now);
            let unit = of.version(&self.folder, version);
            if had == Some(&met) || changes.contains_key(&unit) || had.is_none() && room == 0 {
                continue;
            }
            room -= usize::from(had.is_none());
            changes.insert(unit, Says::Met(met));
        }
        for metadata::Plugin { artifact, prefix, name } in &self.plugins {
            let plugin = Plugin { prefix: prefix.clone(), name: name.clone() };
            let had = plugins.get(artifact);
            let unit = of.plugin(&self.folder, artifact);
            if had == Some(&plugin) || changes.contains_key(&unit) || had.is_none() && room == 0 {
                continue;
            }
            room -= usize::from(had.is_none());
            changes.insert(unit, Says::Plugin(plugin));
        }
        after.met = MET_MAX - room;
        after.listed |= self.listed;
        if let Some(told) = self.looked {
            after.looked = Some(now);
            after.in_vain = if told { 0 } else { after.in_vain.saturating_add(1) };
        }
        let news = !changes.is_empty() || before != Some(&after);
        // It is written with whatever is, so nobody writes of what was read before.
        changes.insert(of.unit(&self.folder), Says::Folder(after));
        news.then(|| changes.into_iter().collect())
    }
}

/// The builds that the document of a snapshot tells of.
pub(super) fn builds(document: &Metadata) -> impl Iterator<Item = String> {
    let files = document.files.iter().filter_map(|file| Some(Build::trailing(&file.value)?.to_string()));
    let newest = document.snapshot.as_ref().and_then(build);
    files.chain(newest)
}

/// The newest build, where it is told apart from others.
pub(super) fn build(snapshot: &metadata::Snapshot) -> Option<String> {
    Some(Build { timestamp: snapshot.timestamp.as_deref()?, number: snapshot.number }.to_string())
}

/// When a build was made, as its name says.
fn made(build: &str) -> Option<Millis> {
    Build::read(build).and_then(|build| moment_of(&build.updated())).map(Millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Millis = Millis(1_000);

    fn listed(versions: impl IntoIterator<Item = String>) -> Sight {
        let document = Metadata {
            versions: versions.into_iter().collect(),
            plugins: vec![metadata::Plugin { name: None, prefix: "light".into(), artifact: "lamp".into() }],
            ..Metadata::default()
        };
        Sight::of_document("org/lamp", &document, Some(Millis(10))).remove(0)
    }

    /// What the journal has of a folder, as it would be read again.
    #[derive(Debug, Default)]
    struct Journal {
        folder: Option<Folder>,
        versions: BTreeMap<String, Met>,
        plugins: BTreeMap<String, Plugin>,
    }

    impl Journal {
        /// Says how many units that changes.
        fn see(&mut self, sight: &Sight, now: Millis) -> usize {
            let before = (self.folder.as_ref(), &self.versions, &self.plugins);
            let units = sight.news(Units(7), before, now).unwrap_or_default();
            for (unit, says) in &units {
                let name = unit.rsplit('/').next().unwrap_or_default().to_owned();
                match says {
                    Says::Folder(folder) => self.folder = Some(folder.clone()),
                    Says::Met(met) => drop(self.versions.insert(name, *met)),
                    Says::Plugin(plugin) => drop(self.plugins.insert(name, plugin.clone())),
                    Says::First(_) | Says::Bytes(_) => panic!("{unit} is of no folder"),
                }
            }
            units.len()
        }
    }

    #[test]
    fn one_version_more_is_a_row_for_it_and_one_for_its_folder_however_many_there_are() {
        let mut journal = Journal::default();
        let many: Vec<String> = (0..500).map(|number| number.to_string()).collect();
        assert_eq!(journal.see(&listed(many.clone()), NOW), 500 + 1 + 1, "versions, the plugin, the folder");
        assert_eq!(journal.see(&listed(many.clone()), Millis(2_000)), 0);
        let more = many.into_iter().chain(["new".to_owned()]);
        assert_eq!(journal.see(&listed(more), Millis(3_000)), 2);
        assert_eq!(journal.versions["new"], Met { seen: Millis(3_000), since: Millis(3_000), open: false });
        assert_eq!(journal.versions["7"], Met { seen: NOW, since: Millis(10), open: true });
        let folder = journal.folder.as_ref();
        assert!(folder.is_some_and(|folder| folder.listed && folder.met == 502 && folder.seen == NOW));
    }

    #[test]
    fn what_poms_tell_is_written_with_when_they_were_looked_for() {
        let mut journal = Journal::default();
        journal.see(&listed(["1".to_owned(), "2".to_owned()]), NOW);
        let told = Told { date: Some(Millis(5)), bound: false };
        let turn =
            |versions, looked| Sight { folder: "org/lamp".into(), versions, looked: Some(looked), ..Sight::default() };
        assert_eq!(journal.see(&turn(vec![("1".to_owned(), told)], true), Millis(2_000)), 2);
        assert_eq!(journal.versions["1"], Met { seen: NOW, since: Millis(5), open: false });
        assert_eq!(journal.see(&turn(Vec::new(), false), Millis(3_000)), 1);
        let folder = journal.folder.as_ref();
        assert!(folder.is_some_and(|folder| folder.looked == Some(Millis(3_000)) && folder.in_vain == 1));
    }

    #[test]
    fn versions_and_plugins_have_an_end_so_that_no_upstream_fills_the_journal() {
        let mut journal = Journal::default();
        for part in listed((0..MET_MAX + 5).map(|number| number.to_string())).parts() {
            assert!(journal.see(&part, NOW) <= PART + 1);
        }
        assert_eq!(journal.versions.len() + journal.plugins.len(), MET_MAX);
        assert_eq!(journal.see(&listed(["other".to_owned()]), Millis(2_000)), 0);
        let file = Sight::of_file("org/lamp/yet-another/lamp-yet-another.jar", None).remove(0);
        assert_eq!(journal.see(&file, Millis(2_000)), 0);
    }
}
