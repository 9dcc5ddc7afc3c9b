//! The lists of a Maven folder: the versions of an artifact, the plugins of a group, the archetypes of the repository.
//!
//! Each item is a unit of its own, `G/A//versions/V`, and the journal records whether it is listed. So adding an item
//! costs the same whatever the length of the list, and concurrent additions do not conflict. Such a unit has no files,
//! because no path has two slashes in a row.

use crate::error::{Error, Result};
use crate::format::Format;
use crate::policy::package_version::{PackageVersion, Since};
use crate::tree::Tree;
use crate::visible::Row;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::State;
use telemetry::{Event, Millis};

/// The end of a snapshot's version. A snapshot has several builds.
const SNAPSHOT: &str = "-SNAPSHOT";
/// Number of units that one read of the store returns.
const PAGE: usize = 1_000;

/// An item of a folder's list.
pub(crate) trait Item: Serialize + DeserializeOwned + Clone + PartialEq {
    /// The name of the list in the names of units.
    const LIST: &'static str;

    /// The name of the item in its list.
    fn name(&self) -> String;

    /// Whether it consists of builds that are published one by one.
    fn has_builds(&self) -> bool {
        false
    }

    /// The item in the syntax of policies, listed by `folder` and first published at `published`.
    fn named<'a>(&'a self, folder: &'a str, published: Millis) -> Option<PackageVersion<'a>>;
}

/// A version. All builds of a snapshot are one version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Version {
    pub(crate) version: String,
}

/// A plugin of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plugin {
    pub(crate) artifact: String,
    pub(crate) prefix: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
}

/// A version of an archetype.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Archetype {
    pub(crate) group: String,
    pub(crate) artifact: String,
    pub(crate) version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
}

impl Item for Version {
    const LIST: &'static str = "versions";

    fn name(&self) -> String {
        self.version.clone()
    }

    fn has_builds(&self) -> bool {
        self.version.ends_with(SNAPSHOT)
    }

    fn named<'a>(&'a self, folder: &'a str, published: Millis) -> Option<PackageVersion<'a>> {
        let (group, artifact) = folder.rsplit_once('/')?;
        Some(PackageVersion::maven(group, artifact, &self.version, Since::Moment(published)))
    }
}

impl Item for Plugin {
    const LIST: &'static str = "plugins";

    fn name(&self) -> String {
        self.artifact.clone()
    }

    fn named<'a>(&'a self, folder: &'a str, _: Millis) -> Option<PackageVersion<'a>> {
        Some(PackageVersion::maven(folder, &self.artifact, "", Since::Always))
    }
}

impl Item for Archetype {
    const LIST: &'static str = "archetypes";

    fn name(&self) -> String {
        format!("{}:{}:{}", self.group, self.artifact, self.version)
    }

    fn has_builds(&self) -> bool {
        self.version.ends_with(SNAPSHOT)
    }

    fn named<'a>(&'a self, _: &'a str, published: Millis) -> Option<PackageVersion<'a>> {
        Some(PackageVersion::maven(&self.group, &self.artifact, &self.version, Since::Moment(published)))
    }
}

/// An item, and the date since when it is listed or no longer listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListingRow<T> {
    #[serde(flatten)]
    pub(crate) what: T,
    state: State,
    published: Millis,
    pub(crate) changed: Millis,
    /// The date of its original publication elsewhere, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin: Option<Millis>,
    /// The folder that lists it. The name of the unit has it.
    #[serde(skip)]
    folder: String,
}

impl<T: Item> Row for ListingRow<T> {
    fn lifecycle(&self) -> (State, Millis, Millis) {
        (self.state, self.published, self.changed)
    }

    fn coordinates(&self, _: Format) -> Option<PackageVersion<'_>> {
        self.what.named(&self.folder, self.origin.unwrap_or(self.published))
    }
}

impl<T: Item> ListingRow<T> {
    /// The date of its original publication elsewhere, if it is known.
    pub(crate) fn origin(&self) -> Option<Millis> {
        self.origin
    }

    /// Reads an item from the stored facts of a unit.
    pub(crate) fn read(unit: &str, facts: Value) -> Result<Option<Self>> {
        let read: Result<Option<Self>, _> = serde_json::from_value(facts);
        let read = read.map_err(|source| Error::Unreadable { key: unit.to_owned(), source })?;
        let folder = unit.split_once("//").map_or("", |(folder, _)| folder);
        Ok(read.map(|listed| Self { folder: folder.to_owned(), ..listed }))
    }

    /// The item as listed from now on, with this origin if it is known; `None`: it is listed already.
    pub(crate) fn after(
        before: Option<Self>,
        what: &T,
        state: State,
        origin: Option<Millis>,
        at: Millis,
    ) -> Option<Self> {
        let Some(before) = before else {
            let listed = Self { what: what.clone(), state, published: at, changed: at, origin, folder: String::new() };
            return (state == State::Live).then_some(listed);
        };
        match state {
            State::Withdrawn if before.state == state => None,
            // An item that is removed from the list keeps its facts.
            State::Withdrawn => Some(Self { state, changed: at, ..before }),
            State::Live => {
                let after = Self { what: what.clone(), state, origin: before.origin_with(origin), ..before.clone() };
                (after != before).then_some(Self { changed: at, ..after })
            }
        }
    }

    /// Its origin after one of its files brought one. If it has several builds, the older one counts.
    fn origin_with(&self, brought: Option<Millis>) -> Option<Millis> {
        match brought {
            Some(brought) if !self.what.has_builds() => Some(brought),
            Some(brought) if brought < self.origin.unwrap_or(self.published) => Some(brought),
            _ => self.origin,
        }
    }
}

/// The unit of an item in a folder's list.
pub(crate) fn unit<T: Item>(folder: &str, what: &T) -> String {
    format!("{folder}//{}/{}", T::LIST, what.name())
}

/// The folder and the version of a unit in a list of versions.
pub(crate) fn version_of(unit: &str) -> Option<(&str, &str)> {
    let (folder, item) = unit.split_once("//")?;
    Some((folder, item.strip_prefix(Version::LIST)?.strip_prefix('/')?))
}

/// All items of a folder's list, including items that are no longer listed.
pub(crate) async fn read<T: Item>(tree: Tree<'_>, folder: &str, event: &mut Event) -> Result<Vec<ListingRow<T>>> {
    let (mut listed, mut after) = (Vec::new(), String::new());
    let list = format!("{folder}//{}/", T::LIST);
    loop {
        let units = tree.repository.facts(tree.store, &list, &after, PAGE, event).await?;
        let full = units.len() == PAGE;
        if let Some((last, _)) = units.last().filter(|_| full) {
            after.clone_from(last);
        }
        for (unit, facts) in units {
            listed.extend(ListingRow::read(&unit, facts)?);
        }
        if !full {
            return Ok(listed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plugin(prefix: &str) -> Plugin {
        Plugin { artifact: "lamp".into(), prefix: prefix.into(), name: None }
    }

    #[test]
    fn an_item_goes_and_comes_back_and_the_journal_keeps_it() {
        let after = |before: &ListingRow<Plugin>, prefix, state, at| {
            ListingRow::after(Some(before.clone()), &plugin(prefix), state, None, Millis(at))
        };
        assert_eq!(ListingRow::after(None, &plugin("light"), State::Withdrawn, None, Millis(1)), None);
        let first = ListingRow::after(None, &plugin("light"), State::Live, None, Millis(2)).unwrap();
        assert_eq!(first.lifecycle(), (State::Live, Millis(2), Millis(2)));
        assert_eq!(after(&first, "light", State::Live, 3), None);
        let other = after(&first, "shine", State::Live, 4).unwrap();
        assert_eq!((other.what.prefix.as_str(), other.lifecycle()), ("shine", (State::Live, Millis(2), Millis(4))));
        let gone = after(&other, "light", State::Withdrawn, 5).unwrap();
        assert_eq!((gone.what.prefix.as_str(), gone.lifecycle()), ("shine", (State::Withdrawn, Millis(2), Millis(5))));
        assert_eq!(after(&gone, "shine", State::Withdrawn, 6), None);
        assert_eq!(after(&gone, "shine", State::Live, 7).unwrap().lifecycle(), (State::Live, Millis(2), Millis(7)));
        let again = ListingRow::read("org//plugins/lamp", serde_json::to_value(&gone).unwrap()).unwrap().unwrap();
        assert_eq!(again.coordinates(Format::Maven).unwrap().to_string(), "org:lamp");
        assert_eq!(ListingRow { folder: String::new(), ..again }, gone);
        assert_eq!(ListingRow::<Plugin>::read("unit", Value::Null).unwrap(), None);
    }

    #[test]
    fn a_release_has_the_origin_of_its_pom_and_a_snapshot_that_of_its_oldest_build() {
        let origin_of = |number: &str, origins: &[Option<i64>]| {
            let version = Version { version: number.into() };
            let after = |before, at: &Option<i64>| {
                let after =
                    ListingRow::after(Option::clone(&before), &version, State::Live, at.map(Millis), Millis(100));
                after.or(before)
            };
            origins.iter().fold(None, after).unwrap().origin
        };
        assert_eq!(origin_of("1.0", &[None, Some(5), None]), Some(Millis(5)));
        assert_eq!(origin_of("1.0", &[Some(5), Some(7)]), Some(Millis(7)), "it was corrected");
        assert_eq!(origin_of("1.0-SNAPSHOT", &[Some(5), Some(7), Some(3), None]), Some(Millis(3)));
        assert_eq!(origin_of("1.0-SNAPSHOT", &[None, Some(7)]), Some(Millis(7)));
    }

    #[test]
    fn units_of_lists_are_no_folders_of_files() {
        assert_eq!(unit("org/lamp", &Version { version: "1.0".into() }), "org/lamp//versions/1.0");
        assert_eq!(version_of("org/lamp//versions/1.0"), Some(("org/lamp", "1.0")));
        assert_eq!((version_of("org/lamp//plugins/1.0"), version_of("org/lamp/1.0")), (None, None));
        assert_eq!(unit("", &plugin("light")), "//plugins/lamp");
        assert!(format::tree::check(&unit("org", &plugin("light"))).is_err());
    }
}
