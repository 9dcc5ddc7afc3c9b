//! The dates of the artifacts of a folder. A file is no younger than the last change of the metadata that lists it, or than the build
//! that its name tells: copying a folder often makes files younger.

use crate::cli::import::origin::{credible, modified};
use format::maven::LONGEST;
use format::maven::metadata::Metadata;
use format::maven::path::{self, Kind};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use telemetry::Millis;

/// When the metadata of each folder last changed.
#[derive(Debug, Default)]
pub(super) struct MetadataDates(HashMap<String, Millis>);

impl MetadataDates {
    /// Reads `lastUpdated` of a file, if it is a `maven-metadata.xml`, or the `maven-metadata-SERVER.xml` that a client has of a
    /// server. What cannot be read says nothing.
    pub(super) fn read(&mut self, path: &str, file: &Path) {
        let name = path.rsplit('/').next().unwrap_or_default();
        if !name.starts_with("maven-metadata") || !name.ends_with(".xml") {
            return;
        }
        let mut bytes = Vec::new();
        let read = File::open(file).and_then(|file| file.take(LONGEST as u64 + 1).read_to_end(&mut bytes));
        let document = read.ok().and_then(|_| Metadata::read(&bytes).ok());
        let Some(at) = document.and_then(|document| moment(&document.updated?)) else { return };
        let known = self.0.entry(path::unit(path).to_owned()).or_insert(at);
        // A folder may have documents of several servers, `maven-metadata-SERVER.xml`: which one lists a file is not known.
        *known = (*known).max(at);
    }

    /// When an artifact was published, as far as that is known: all of its documents have been read.
    pub(super) fn of(&self, path: &str, file: &Path) -> Option<Millis> {
        let folder = path::unit(path);
        let above = folder.rsplit_once('/').map_or("", |(above, _)| above);
        let listed = [folder, above].into_iter().filter_map(|folder| self.0.get(folder).copied());
        listed.chain(build(path)).chain(modified(file)).min()
    }
}

/// When the build of a snapshot was made, which its name tells.
fn build(path: &str) -> Option<Millis> {
    match path::read(path)?.kind {
        Kind::Artifact(artifact) => moment(&artifact.build?.updated()),
        _ => None,
    }
}

/// `yyyyMMddHHmmss`, in UTC.
fn moment(text: &str) -> Option<Millis> {
    let at = DateTime::strptime("%Y%m%d%H%M%S", text).ok()?.to_zoned(TimeZone::UTC).ok()?;
    credible(Millis(at.timestamp().as_millisecond()))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "folders of other servers")]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_what_a_file_its_name_and_its_metadata_tell_counts() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let mut dates = MetadataDates::default();
        let mut document = |path: &str, updated: &str| {
            let versioning = format!("<versioning><lastUpdated>{updated}</lastUpdated></versioning>");
            std::fs::write(&file, format!("<metadata>{versioning}</metadata>")).unwrap();
            dates.read(path, &file);
        };
        document("org/example/lamp/maven-metadata.xml", "20240501120000");
        document("org/example/lamp/maven-metadata-other.xml", "20240601120000");
        document("org/example/lamp/1.1-SNAPSHOT/maven-metadata.xml", "20240401120000");
        document("org/example/oil/maven-metadata.xml", "19800101000000");
        let of = |path: &str| dates.of(path, &file).map(|at| at.to_string()[..10].to_owned());
        assert_eq!(of("org/example/lamp/1.0/lamp-1.0.jar").unwrap(), "2024-06-01");
        assert_eq!(of("org/example/lamp/1.1-SNAPSHOT/lamp-1.1-20260101.120000-1.jar").unwrap(), "2024-04-01");
        assert_eq!(of("org/example/lamp/1.1-SNAPSHOT/lamp-1.1-20240301.120000-1.jar").unwrap(), "2024-03-01");
        let modified = modified(&file).map(|at| at.to_string()[..10].to_owned());
        assert_eq!(of("org/example/oil/1.0/oil-1.0.jar"), modified, "1980 is no date");
        assert_eq!(dates.of("a/b/1/b-1.jar", &folder.path().join("none")), None);
    }
}
