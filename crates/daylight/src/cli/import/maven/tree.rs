//! Finds the files of a folder that are to be uploaded, and the checksums beside them.

use super::metadata_dates::MetadataDates;
use super::parent_folder;
use crate::cli::failure::{Failure, plain};
use crate::cli::import::flags::Paths;
use crate::cli::import::folder::{Files, files};
use anyhow::Context as _;
use format::maven::path::{self, Kind};
use format::maven::tracking::{TRACKING, TRACKING_MAX, Tracking};
use format::tree::{self, Checksum};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use telemetry::Millis;

/// Most folders within each other that are searched.
const DEPTH: usize = 64;
/// How many files that are left out are named.
const EXAMPLES: usize = 3;
/// Endings of the files that clients leave beside artifacts in their local repositories, under names like theirs.
const LEFTOVERS: [&str; 4] = [".lastUpdated", ".part", ".tmp", ".lock"];

/// An artifact to upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ArtifactFile {
    pub(super) file: PathBuf,
    /// Relative to the folder, and so to the repository.
    pub(super) path: String,
    /// The checksums beside it.
    pub(super) checksums: Vec<(Checksum, PathBuf)>,
    /// When it was published on the server that it comes from, where that is known.
    pub(super) published: Option<Millis>,
}

/// The artifacts of a folder.
#[derive(Debug)]
pub(super) struct ArtifactTree {
    /// The files of each version; of a snapshot, those of each build.
    pub(super) folders: Vec<Vec<ArtifactFile>>,
    /// Where the files of a folder came from, as a client has it there.
    pub(super) tracked: HashMap<String, Tracking>,
    /// The files that are neither artifacts nor checksums nor metadata.
    pub(super) left_out: Vec<String>,
    /// How many links lead out of the folder.
    pub(super) links_outside: u64,
}

impl ArtifactTree {
    /// The files that are left out, for people; `None`: nothing. The files that clients leave everywhere are no examples.
    pub(super) fn left_out_shown(&self) -> Option<String> {
        let is_left_over = |path: &str| LEFTOVERS.iter().any(|ending| path.ends_with(ending));
        let examples = self.left_out.iter().filter(|path| !is_notes(path) && !is_left_over(path)).take(EXAMPLES);
        let examples: Vec<String> = examples.map(|path| format!("`{}`", plain(path))).collect();
        let such_as = if examples.is_empty() { String::new() } else { format!(", such as {}", examples.join(", ")) };
        match self.left_out.len() {
            0 => None,
            1 => Some(format!("1 other file is left out{such_as}")),
            many => Some(format!("{many} other files are left out{such_as}")),
        }
    }
}

/// Finds the files of a folder.
pub(super) fn read(folder: &Path, accepted: Paths) -> anyhow::Result<ArtifactTree> {
    let (mut found, mut checksums) = (BTreeMap::new(), HashMap::<String, Vec<_>>::new());
    let (mut left_out, mut updated, mut tracked) = (Vec::new(), MetadataDates::default(), HashMap::new());
    let Files { paths, links_outside } = files(folder, folder, DEPTH, &|_| true)?;
    for file in paths {
        let Some(relative) = file.strip_prefix(folder).ok().and_then(Path::to_str) else {
            left_out.push(file.display().to_string());
            continue;
        };
        if accepted == Paths::Raw {
            // An export that was interrupted leaves files with such names.
            match tree::check_raw(relative).is_ok() && !relative.ends_with(".arriving") {
                true => drop(found.insert(relative.to_owned(), file)),
                false => left_out.push(relative.to_owned()),
            }
            continue;
        }
        updated.read(relative, &file);
        if file.file_name().is_some_and(|name| name == TRACKING) {
            tracked.insert(path::unit(relative).to_owned(), tracking(&file)?);
        }
        // Other servers have their own data in folders with such names.
        let hidden = relative.split('/').any(|name| name.starts_with('.'));
        let leftover = LEFTOVERS.iter().any(|ending| relative.ends_with(ending));
        let taken = !hidden && !leftover && tree::check(relative).is_ok();
        let read = path::read(relative).filter(|_| taken);
        if accepted == Paths::AnyLayout && taken && read.is_none() && !is_notes(relative) {
            match tree::checksum_of(relative) {
                Some((of, checksum)) => checksums.entry(of.to_owned()).or_default().push((checksum, file)),
                None => drop(found.insert(relative.to_owned(), file)),
            }
            continue;
        }
        match read.map(|read| (read.kind, read.checksum, read.file.to_owned())) {
            Some((_, Some(checksum), of)) => checksums.entry(of).or_default().push((checksum, file)),
            Some((Kind::Artifact(_), None, path)) => drop(found.insert(path, file)),
            Some((Kind::Metadata(_), ..)) => {}
            _ => left_out.push(relative.to_owned()),
        }
    }
    if found.is_empty() && links_outside == 0 {
        let what = if accepted == Paths::Raw { "files" } else { "artifacts" };
        let hint = "name the folder that the groups are in, as `~/.m2/repository`: `GROUP/ARTIFACT/VERSION/` below it";
        let hint = (accepted != Paths::Raw).then(|| hint.to_owned());
        return Err(Failure::new(format!("there are no {what} in `{}`", folder.display()), hint).into());
    }
    let mut folders = BTreeMap::<(String, String), Vec<ArtifactFile>>::new();
    let mut copies = HashSet::new();
    if accepted != Paths::Raw {
        parent_folder::refuse(folder, &found)?;
        copies = self::copies(&found);
    }
    for (path, file) in found.into_iter().filter(|(path, _)| !copies.contains(path)) {
        let checksums = checksums.remove(&path).unwrap_or_default();
        let published = updated.of(&path, &file);
        let build = match path::read(&path).map(|read| read.kind) {
            Some(Kind::Artifact(artifact)) => artifact.file_version,
            _ => "",
        };
        folders.entry((path::unit(&path).to_owned(), build.to_owned())).or_default().push(ArtifactFile {
            file,
            path,
            checksums,
            published,
        });
    }
    left_out.extend(copies);
    Ok(ArtifactTree { folders: folders.into_values().collect(), tracked, left_out, links_outside })
}

/// Reads where the files of a folder came from.
fn tracking(file: &Path) -> anyhow::Result<Tracking> {
    let mut bytes = Vec::new();
    let unread = || format!("cannot read `{}`", file.display());
    File::open(file).and_then(|file| file.take(TRACKING_MAX as u64).read_to_end(&mut bytes)).with_context(unread)?;
    Ok(Tracking::read(&bytes))
}

/// Whether clients leave a file of this name in each folder of their local repositories.
fn is_notes(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.starts_with(['_', '.']) || name.starts_with("maven-metadata") || name == "resolver-status.properties"
}

/// Files of a snapshot that are copies of its newest build: clients make them in their local repositories, without a build in the name.
fn copies(found: &BTreeMap<String, PathBuf>) -> HashSet<String> {
    let artifacts = || {
        found.keys().filter_map(|path| match path::read(path)?.kind {
            Kind::Artifact(artifact) => {
                Some((path, artifact, (path::unit(path), artifact.classifier, artifact.extension)))
            }
            _ => None,
        })
    };
    let built: HashSet<_> = artifacts().filter(|(_, file, _)| file.build.is_some()).map(|(.., which)| which).collect();
    let copies = artifacts().filter(|(_, file, which)| file.build.is_none() && built.contains(which));
    copies.map(|(path, ..)| path.clone()).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "folders of other servers")]
mod tests {
    use super::*;

    #[test]
    fn artifacts_of_a_local_repository_are_found_among_its_other_files() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        };
        for path in [
            "org/example/lamp/1.0/lamp-1.0.jar",
            "org/example/lamp/1.0/lamp-1.0.jar.sha1",
            "org/example/lamp/1.0/lamp-1.0.jar.md5",
            "org/example/lamp/1.0/lamp-1.0.pom",
            "org/example/lamp/1.0/lamp-1.0-sources.jar.lastUpdated",
            "org/example/lamp/1.0/_remote.repositories",
            "org/example/lamp/1.1-SNAPSHOT/lamp-1.1-20260101.120000-1.jar",
            "org/example/lamp/1.1-SNAPSHOT/lamp-1.1-SNAPSHOT.jar",
            "org/example/lamp/1.1-SNAPSHOT/lamp-1.1-SNAPSHOT.pom",
            "org/example/lamp/1.1-SNAPSHOT/maven-metadata-home.xml",
            "org/example/lamp/maven-metadata.xml",
            "org/example/lamp/maven-metadata.xml.sha1",
            ".cache/org/example/lamp/1.0/lamp-1.0.jar",
            "archetype-catalog.xml",
        ] {
            write(path);
        }
        let tree = read(folder.path(), Paths::Maven).unwrap();
        let paths: Vec<Vec<_>> =
            tree.folders.iter().map(|folder| folder.iter().map(|found| found.path.as_str()).collect()).collect();
        assert_eq!(
            paths,
            [
                vec!["org/example/lamp/1.0/lamp-1.0.jar", "org/example/lamp/1.0/lamp-1.0.pom"],
                vec!["org/example/lamp/1.1-SNAPSHOT/lamp-1.1-20260101.120000-1.jar"],
                vec!["org/example/lamp/1.1-SNAPSHOT/lamp-1.1-SNAPSHOT.pom"],
            ]
        );
        assert_eq!(tree.left_out.len(), 6);
        let shown = tree.left_out_shown().unwrap();
        assert!(shown.starts_with("6 other files are left out, such as `"), "{shown}");
        assert!(shown.contains("`archetype-catalog.xml`") && !shown.contains("_remote.repositories"), "{shown}");
        let sums: Vec<_> = tree.folders[0][0].checksums.iter().map(|(checksum, _)| *checksum).collect();
        assert_eq!(sums, [Checksum::Md5, Checksum::Sha1]);
        write("org.example/oil/1.0/ivys/ivy.xml");
        write("org.example/oil/1.0/ivys/ivy.xml.sha1");
        let others = |tree: ArtifactTree| tree.folders.concat().into_iter().filter(|file| file.path.contains("oil"));
        assert_eq!(others(read(folder.path(), Paths::Maven).unwrap()).count(), 0);
        let plain: Vec<_> = others(read(folder.path(), Paths::AnyLayout).unwrap()).collect();
        assert_eq!((plain.len(), plain[0].checksums.len()), (1, 1));
        assert_eq!(read(folder.path(), Paths::AnyLayout).unwrap().left_out.len(), 6);
        let raw = read(folder.path(), Paths::Raw).unwrap();
        assert_eq!((raw.folders.concat().len(), raw.left_out.len()), (16, 0));
        let nothing = read(&folder.path().join("org/example/lamp/1.0"), Paths::Maven).unwrap_err();
        assert!(nothing.to_string().starts_with("there are no artifacts in"));
    }
}
