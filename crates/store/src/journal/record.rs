//! Repositories, as the journal has them.

use crate::journal::opaque_settings::OpaqueSettings;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use telemetry::Millis;

/// The number of a change. The first is 1; 0 means that there is none yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

/// Identifies a repository, even after it is renamed: the number of the change that created it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RepositoryId(pub u64);

telemetry::closed_list! {
    /// The three kinds of repository. A closed list.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum RepositoryKind {
        /// Has entries of its own.
        Hosted = "hosted",
        /// Caches one upstream.
        Remote = "remote",
        /// Combines other repositories.
        Group = "group",
    }
}

/// A repository after a change, with settings that the store uses and settings that are opaque to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryRecord {
    /// Its name, unique among the repositories that are not removed.
    pub name: String,
    /// The name of its format. Opaque.
    pub format: String,
    /// Hosted, remote or group.
    pub kind: RepositoryKind,
    /// Whether reading needs a token.
    pub private: bool,
    /// The names of a group's members, in order.
    pub members: Vec<String>,
    /// All other settings.
    pub settings: OpaqueSettings,
    /// When it was created.
    pub created: Millis,
    /// When it was removed. Its name is then free again, and its content stays for a while.
    pub removed: Option<Millis>,
}

impl RepositoryRecord {
    /// A repository without further settings.
    pub fn new(name: &str, format: &str, kind: RepositoryKind, created: Millis) -> Self {
        Self {
            name: name.to_owned(),
            format: format.to_owned(),
            kind,
            private: false,
            members: Vec::new(),
            settings: OpaqueSettings::default(),
            created,
            removed: None,
        }
    }
}

/// In the journal, the opaque settings are fields like the others, between `members` and `created`.
impl Serialize for RepositoryRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("format", &self.format)?;
        map.serialize_entry("kind", &self.kind)?;
        map.serialize_entry("private", &self.private)?;
        map.serialize_entry("members", &self.members)?;
        self.settings.fields().try_for_each(|(name, value)| map.serialize_entry(name, value))?;
        map.serialize_entry("created", &self.created)?;
        map.serialize_entry("removed", &self.removed)?;
        map.end()
    }
}

impl<'de> Deserialize<'de> for RepositoryRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields)
    }
}

struct Fields;

impl<'de> Visitor<'de> for Fields {
    type Value = RepositoryRecord;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the settings of a repository")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RepositoryRecord, A::Error> {
        let (mut name, mut format, mut kind, mut private, mut created) = (None, None, None, None, None);
        let (mut members, mut settings, mut removed) = (Vec::new(), OpaqueSettings::default(), None);
        while let Some(field) = map.next_key::<String>()? {
            match field.as_str() {
                "name" => name = Some(map.next_value()?),
                "format" => format = Some(map.next_value()?),
                "kind" => kind = Some(map.next_value()?),
                "private" => private = Some(map.next_value()?),
                "members" => members = map.next_value()?,
                "created" => created = Some(map.next_value()?),
                "removed" => removed = map.next_value()?,
                _ => settings.push(field, &mut map)?,
            }
        }
        let missing = A::Error::missing_field;
        Ok(RepositoryRecord {
            name: name.ok_or_else(|| missing("name"))?,
            format: format.ok_or_else(|| missing("format"))?,
            kind: kind.ok_or_else(|| missing("kind"))?,
            private: private.ok_or_else(|| missing("private"))?,
            members,
            settings,
            created: created.ok_or_else(|| missing("created"))?,
            removed,
        })
    }
}

#[cfg(test)]
mod tests;
