//! What a hub lists and no repository has, and why.

use crate::koji::model::{Archive, BuildState, Nvr, TaggedBuild};

/// The longest name, in bytes, as file systems have it.
const NAME_MAX: usize = 255;

macro_rules! left_out {
    ($($name:ident $text:literal $doc:literal;)*) => {
        /// Why an archive or a build is left out.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum LeftOut { $(#[doc = $doc] $name,)* }

        impl LeftOut {
            /// All reasons.
            pub const ALL: &[LeftOut] = &[$(LeftOut::$name,)*];

            /// Its name in events.
            pub fn as_str(self) -> &'static str {
                match self { $(LeftOut::$name => $text,)* }
            }
        }
    };
}

left_out! {
    State "state" "The build is not complete.";
    MetadataOnly "metadata_only" "Koji has only facts about the archive, and no file.";
    Snapshot "snapshot" "The version is a snapshot of Maven, which changes.";
    Digest "digest" "Koji has no size or no digest of a known form, so the file could not be checked.";
    Group "group" "The group is no plain path.";
    Artifact "artifact" "The artifact is no plain part of a path.";
    Version "version" "The version of the artifact is no plain part of a path.";
    Filename "filename" "The name of the file is no plain part of a path.";
    Nvr "nvr" "The name, version or release of the build is no plain part of a path.";
    Volume "volume" "The name of the volume is no plain part of a path.";
}

/// Why an archive is left out.
pub fn archive(archive: &Archive) -> Option<LeftOut> {
    let Archive { group, artifact, version, filename, digest, metadata_only, .. } = archive;
    let reasons = [
        (*metadata_only, LeftOut::MetadataOnly),
        (!is_group(group), LeftOut::Group),
        (!is_plain(artifact), LeftOut::Artifact),
        (!is_plain(version), LeftOut::Version),
        (!is_plain(filename), LeftOut::Filename),
        (is_snapshot(version), LeftOut::Snapshot),
        (digest.is_none(), LeftOut::Digest),
    ];
    reasons.into_iter().find_map(|(is, reason)| is.then_some(reason))
}

/// Why a build is left out with all its archives.
pub fn build(build: &TaggedBuild) -> Option<LeftOut> {
    let nvr = &build.nvr;
    let reasons = [
        (build.state != BuildState::Complete, LeftOut::State),
        (![&nvr.name, &nvr.version, &nvr.release].into_iter().all(|part| is_plain(part)), LeftOut::Nvr),
        (!is_plain(&build.volume), LeftOut::Volume),
    ];
    reasons.into_iter().find_map(|(is, reason)| is.then_some(reason))
}

/// Whether the names of a build and of its volume are plain parts of a path.
pub fn has_plain_names(nvr: &Nvr, volume: &str) -> bool {
    [&nvr.name, &nvr.version, &nvr.release].into_iter().all(|part| is_plain(part)) && is_plain(volume)
}

/// Whether a name is one plain part of a path: it leads nowhere else, on any system, and has no query.
pub fn is_plain(name: &str) -> bool {
    let forbidden = |c: char| matches!(c, '/' | '\\' | '?') || c.is_control();
    !name.is_empty() && name.len() <= NAME_MAX && !matches!(name, "." | "..") && !name.contains(forbidden)
}

/// Whether a group is a plain path once its dots are slashes.
fn is_group(group: &str) -> bool {
    group.len() <= NAME_MAX && group.split('.').all(is_plain)
}

fn is_snapshot(version: &str) -> bool {
    let upper = version.to_ascii_uppercase();
    upper == "SNAPSHOT" || upper.ends_with("-SNAPSHOT")
}
