//! `maven-metadata.xml`: the plugins of a group, the versions of an artifact, and the builds of a snapshot.
//!
//! All three have one form, as in Maven (`metadata.mdo`, model 1.1.0). Metadata from upstreams is read leniently:
//! missing, malformed and unknown parts are left out, and only a document that is not metadata at all is refused.

mod facts;
mod merge;

pub use facts::{SnapshotFile, listing, moment_of, plugins, snapshot, versions};
pub use merge::merge;

use super::path::is_snapshot;
use super::snapshot::Build;
use super::xml::{Element, Unreadable, Writer};
use crate::tree;

/// Metadata of any level.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// The id of the group, with dots. The metadata of a group usually lacks it.
    pub group: Option<String>,
    /// The artifact's id.
    pub artifact: Option<String>,
    /// The version of a snapshot: `1.0-SNAPSHOT`.
    pub version: Option<String>,
    /// The newest version, including snapshots.
    pub latest: Option<String>,
    /// The newest version that is not a snapshot.
    pub release: Option<String>,
    /// All versions of the artifact.
    pub versions: Vec<String>,
    /// The time of its last change: `yyyyMMddHHmmss`, UTC.
    pub updated: Option<String>,
    /// The newest build of the snapshot.
    pub snapshot: Option<Snapshot>,
    /// For each file of the snapshot, the build that has it.
    pub files: Vec<File>,
    /// The plugins of the group.
    pub plugins: Vec<Plugin>,
    /// Whether a text is missing because only a DTD declares an entity in it.
    pub undeclared: bool,
}

/// A build of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot {
    /// The time of the build: `yyyyMMdd.HHmmss`, UTC. Missing: its files are named after the snapshot.
    pub timestamp: Option<String>,
    /// Its number.
    pub number: u32,
    /// Whether the build was made on the machine that has the document.
    pub local: bool,
}

/// A file of a snapshot, identified by classifier and extension.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct File {
    /// The classifier; empty for none.
    pub classifier: String,
    /// Its extension.
    pub extension: String,
    /// The version in its name: `1.0-20260101.120000-1`.
    pub value: String,
    /// The time of the file: `yyyyMMddHHmmss`, UTC.
    pub updated: Option<String>,
}

/// A plugin of a group.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plugin {
    /// The display name.
    pub name: Option<String>,
    /// The prefix of its goals: `lamp` in `mvn lamp:light`.
    pub prefix: String,
    /// Its artifact's id.
    pub artifact: String,
}

impl Metadata {
    /// Reads a document of at most [`super::LONGEST`] bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let root = Element::read(bytes, "metadata")?;
        let nothing = Element::default();
        let versioning = root.child("versioning").unwrap_or(&nothing);
        Ok(Self {
            group: plain(root.text_of("groupId")),
            artifact: plain(root.text_of("artifactId")),
            version: plain(root.text_of("version")),
            latest: plain(versioning.text_of("latest")),
            release: plain(versioning.text_of("release")),
            versions: versioning.list("versions", "version").filter_map(|version| plain(version.text())).collect(),
            updated: moment(versioning.text_of("lastUpdated")),
            snapshot: versioning.child("snapshot").and_then(Snapshot::read),
            files: versioning.list("snapshotVersions", "snapshotVersion").filter_map(File::read).collect(),
            plugins: root.list("plugins", "plugin").filter_map(Plugin::read).collect(),
            undeclared: root.has_undeclared(),
        })
    }

    /// Whether the document belongs to this folder: its group and artifact, if any, are those of the folder.
    pub fn is_of(&self, folder: &str) -> bool {
        let folder = match folder.rsplit_once('/') {
            Some((above, version)) if is_snapshot(version) => above,
            _ => folder,
        };
        let group = |folders: &str| self.group.as_ref().is_none_or(|group| group.replace('.', "/") == folders);
        match &self.artifact {
            Some(named) => folder.rsplit_once('/').is_some_and(|(above, artifact)| artifact == named && group(above)),
            None => group(folder),
        }
    }

    /// Renders the document. The same metadata always gives the same bytes.
    pub fn render(&self) -> String {
        let mut writer = Writer::new("metadata", " modelVersion=\"1.1.0\"");
        writer.leaf("groupId", self.group.as_deref());
        writer.leaf("artifactId", self.artifact.as_deref());
        writer.leaf("version", self.version.as_deref());
        let nothing = Self {
            group: self.group.clone(),
            artifact: self.artifact.clone(),
            version: self.version.clone(),
            plugins: self.plugins.clone(),
            ..Self::default()
        };
        if *self != nothing {
            writer.element("versioning", |versioning| self.versioning(versioning));
        }
        if !self.plugins.is_empty() {
            writer.element("plugins", |plugins| {
                for plugin in &self.plugins {
                    plugins.element("plugin", |writer| {
                        writer.leaf("name", plugin.name.as_deref());
                        writer.leaf("prefix", Some(&plugin.prefix));
                        writer.leaf("artifactId", Some(&plugin.artifact));
                    });
                }
            });
        }
        writer.finish()
    }

    fn versioning(&self, writer: &mut Writer) {
        writer.leaf("latest", self.latest.as_deref());
        writer.leaf("release", self.release.as_deref());
        if let Some(snapshot) = &self.snapshot {
            writer.element("snapshot", |writer| {
                writer.leaf("timestamp", snapshot.timestamp.as_deref());
                writer.leaf("buildNumber", Some(&snapshot.number.to_string()));
                writer.leaf("localCopy", snapshot.local.then_some("true"));
            });
        }
        if !self.versions.is_empty() {
            writer.element("versions", |writer| {
                for version in &self.versions {
                    writer.leaf("version", Some(version));
                }
            });
        }
        writer.leaf("lastUpdated", self.updated.as_deref());
        if !self.files.is_empty() {
            writer.element("snapshotVersions", |writer| {
                for file in &self.files {
                    writer.element("snapshotVersion", |writer| {
                        writer.leaf("classifier", Some(&*file.classifier).filter(|text| !text.is_empty()));
                        writer.leaf("extension", Some(&file.extension));
                        writer.leaf("value", Some(&file.value));
                        writer.leaf("updated", file.updated.as_deref());
                    });
                }
            });
        }
    }
}

impl Snapshot {
    fn read(element: &Element) -> Option<Self> {
        let number = element.text_of("buildNumber").and_then(|number| number.parse().ok()).unwrap_or_default();
        let timestamp = element.text_of("timestamp").filter(|timestamp| Build::is_timestamp(timestamp));
        let local = element.text_of("localCopy") == Some("true");
        let said = timestamp.is_some() || number > 0 || local;
        said.then(|| Self { timestamp: timestamp.map(str::to_owned), number, local })
    }
}

impl File {
    fn read(element: &Element) -> Option<Self> {
        let text = |name| plain(element.text_of(name));
        Some(Self {
            classifier: text("classifier").unwrap_or_default(),
            extension: text("extension").unwrap_or_default(),
            value: text("value")?,
            updated: moment(element.text_of("updated")),
        })
    }
}

impl Plugin {
    fn read(element: &Element) -> Option<Self> {
        let text = |name| plain(element.text_of(name));
        let name = element.prose_of("name").filter(|name| sayable(name)).map(str::to_owned);
        Some(Self { name, prefix: text("prefix")?, artifact: text("artifactId")? })
    }
}

/// A text that can be a file name, as every part of coordinates is.
pub(super) fn plain(text: Option<&str>) -> Option<String> {
    text.filter(|text| !text.contains('/') && tree::check(text).is_ok()).map(str::to_owned)
}

/// Whether a text is short and can be represented in XML.
pub(super) fn sayable(text: &str) -> bool {
    text.len() <= tree::LONGEST && !text.chars().any(char::is_control)
}

/// A timestamp of metadata. Other tools write `null`, or a dot in the middle.
fn moment(text: Option<&str>) -> Option<String> {
    let digits: String = text?.chars().filter(|c| *c != '.').take(15).collect();
    (digits.len() == 14 && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

#[cfg(test)]
mod tests;
