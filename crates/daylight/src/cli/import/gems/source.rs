//! Finds out which server a folder comes from, and the files of its gems.

use crate::cli::failure::Failure;
use crate::cli::import::folder::{Files, files};
use anyhow::Context as _;
use std::fmt;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use store::disk::{Disk as _, RealDisk, is_irregular};

/// Most folders within each other that are searched.
const DEPTH: usize = 16;
/// Longest properties of a gem, in bytes.
const PROPERTIES_MAX: u64 = 64 << 10;

/// What a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SourceKind {
    /// Files called `*.gem`, at any depth.
    Files,
    /// The data of a geminabox: `gems/*.gem` beside its indexes.
    Geminabox,
    /// The data of a Gemstash: a folder for each gem, in a tree.
    Gemstash,
}

impl fmt::Display for SourceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SourceKind::Files => "a folder of .gem files",
            SourceKind::Geminabox => "the data of a geminabox",
            SourceKind::Gemstash => "the data of a Gemstash",
        })
    }
}

/// The gems of a folder.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) kind: SourceKind,
    /// The base folder.
    pub(super) folder: PathBuf,
    pub(super) files: Vec<PathBuf>,
    /// How many are left out because they were yanked.
    pub(super) yanked: u64,
    /// How many links lead out of the folder, and are left out.
    pub(super) links_outside: u64,
}

/// Finds the gems of a folder.
pub(super) fn find(folder: &Path, with_yanked: bool) -> anyhow::Result<Source> {
    let found = if let Some(private) = gemstash(folder) {
        resources(folder, &private, with_yanked)?
    } else if let Some(gems) = geminabox(folder) {
        let Files { paths, links_outside } = files(folder, &gems, 1, &|path| ends_in_gem(path))?;
        Source { kind: SourceKind::Geminabox, folder: folder.to_owned(), files: paths, yanked: 0, links_outside }
    } else {
        let Files { paths, links_outside } = files(folder, folder, DEPTH, &|path| ends_in_gem(path))?;
        Source { kind: SourceKind::Files, folder: folder.to_owned(), files: paths, yanked: 0, links_outside }
    };
    if found.files.is_empty() && found.yanked == 0 && found.links_outside == 0 {
        let text = format!("there are no gems in `{}`", folder.display());
        let hint = "name a folder of .gem files, the data folder of a geminabox, or the base folder of a Gemstash";
        return Err(Failure::new(text, Some(hint.to_owned())).into());
    }
    Ok(found)
}

/// Where a Gemstash stores the gems that were pushed to it: `BASE/private/gems`, beside a `metadata.yml`. Its cache of other servers'
/// gems (`BASE/gem_cache`) is not imported.
fn gemstash(folder: &Path) -> Option<PathBuf> {
    let private = folder.join("private/gems");
    (folder.join("metadata.yml").is_file() && private.is_dir()).then_some(private)
}

/// Where a geminabox stores its gems: a folder `gems` beside its indexes, in its data folder.
fn geminabox(folder: &Path) -> Option<PathBuf> {
    let rendered = ["specs.4.8", "specs.4.8.gz", "latest_specs.4.8.gz", "quick", "_cache"];
    [folder.to_owned(), folder.join("data")].into_iter().find_map(|data| {
        let gems = data.join("gems");
        (gems.is_dir() && rendered.iter().any(|name| data.join(name).exists())).then_some(gems)
    })
}

/// The gems of a Gemstash: each is `A/B/C/NAME-MD5/gem`, with its properties beside it. Yanked gems stay, marked as not indexed.
/// https://github.com/rubygems/gemstash, `storage.rb` and `gem_yanker.rb`
fn resources(folder: &Path, private: &Path, with_yanked: bool) -> anyhow::Result<Source> {
    let is_gem = |path: &Path| path.file_name().is_some_and(|name| name == "gem");
    let Files { paths: mut all, links_outside } = files(folder, private, DEPTH, &is_gem)?;
    let before = all.len();
    if !with_yanked {
        let mut kept = Vec::with_capacity(before);
        for gem in all {
            if indexed(&gem)? {
                kept.push(gem);
            }
        }
        all = kept;
    }
    let (kind, folder) = (SourceKind::Gemstash, folder.to_owned());
    Ok(Source { kind, folder, yanked: (before - all.len()) as u64, files: all, links_outside })
}

/// Whether a Gemstash lists a gem in its index. The properties are YAML with Ruby's symbols as keys, one on a line.
fn indexed(gem: &Path) -> anyhow::Result<bool> {
    let properties = gem.with_file_name("properties.yaml");
    let mut text = String::new();
    let read = RealDisk.open(&properties).and_then(|file| file.take(PROPERTIES_MAX).read_to_string(&mut text));
    match read {
        // A link may lead out of the folder.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound || is_irregular(&error) => {}
        read => drop(read.with_context(|| format!("cannot read `{}`", properties.display()))?),
    }
    Ok(!text.lines().any(|line| line.trim_end() == ":indexed: false"))
}

fn ends_in_gem(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "gem")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "folders of other servers")]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn names(folder: &tempfile::TempDir, with_yanked: bool) -> (SourceKind, Vec<String>, u64) {
        let Source { kind, files, yanked, .. } = find(folder.path(), with_yanked).unwrap();
        let name = |path: &PathBuf| path.strip_prefix(folder.path()).unwrap().display().to_string();
        (kind, files.iter().map(name).collect(), yanked)
    }

    #[test]
    fn a_folder_is_recognized_by_the_files_beside_its_gems() {
        let files = tree(&[("b/c/x-1.gem", ""), ("a-1.gem", ""), ("a-1.gem.asc", ""), ("gems/y-1.gem", "")]);
        assert_eq!(
            names(&files, false),
            (SourceKind::Files, ["a-1.gem", "b/c/x-1.gem", "gems/y-1.gem"].map(String::from).into(), 0)
        );
        let geminabox = tree(&[("data/gems/a-1.gem", ""), ("data/specs.4.8.gz", ""), ("data/_cache/b-1.gem", "")]);
        assert_eq!(names(&geminabox, false), (SourceKind::Geminabox, vec!["data/gems/a-1.gem".to_owned()], 0));
        let nothing = find(tree(&[("a.txt", "")]).path(), false).unwrap_err();
        assert!(nothing.to_string().starts_with("there are no gems in"));
    }

    #[test]
    fn yanked_gems_of_a_gemstash_are_imported_only_on_request() {
        let gemstash = tree(&[
            ("metadata.yml", "---\n:storage_version: 1\n:gemstash_version: 2.8.0\n"),
            ("gemstash.db", ""),
            ("private/gems/a/_/1/a_1-0cc1/gem", ""),
            ("private/gems/a/_/1/a_1-0cc1/spec", ""),
            ("private/gems/a/_/1/a_1-0cc1/properties.yaml", "---\n:gemstash_resource_version: 1\n:indexed: true\n"),
            ("private/gems/a/_/2/a_2-0cc2/gem", ""),
            ("private/gems/a/_/2/a_2-0cc2/properties.yaml", "---\n:gemstash_resource_version: 1\n:indexed: false\n"),
            ("gem_cache/upstream_abc/r/a/c/rack_1-0cc3/gem", ""),
        ]);
        let (live, gone) = ("private/gems/a/_/1/a_1-0cc1/gem".to_owned(), "private/gems/a/_/2/a_2-0cc2/gem".to_owned());
        assert_eq!(names(&gemstash, false), (SourceKind::Gemstash, vec![live.clone()], 1));
        assert_eq!(names(&gemstash, true), (SourceKind::Gemstash, vec![live, gone], 0));
    }
}
