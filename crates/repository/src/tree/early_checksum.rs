//! Checksums that were uploaded before their file. The file is held against them when it arrives.
//!
//! Where a checksum is an ordinary file, that file is read. Where checksums are computed, the uploaded digest is a fact of a unit of its
//! own, `G/A//checksums/V/FILE`, until the file is published. A later upload of the same checksum replaces it.

use crate::actor::Actor;
use crate::content::digits;
use crate::error::refused_upload::RefusedUpload;
use crate::error::{Error, Result};
use crate::tree::fetch::find;
use crate::tree::file::File;
use crate::tree::{TRIES, Tree};
use format::tree::{self as paths, Checksum};
use serde_json::{Map, Value};
use store::{Change, CommitError, Expect, Hashes, State};
use telemetry::{Event, Millis};

/// The part of a checksum file that is searched for the digest, in bytes.
pub(super) const KEPT_CHECKSUM_MAX: u64 = 64 << 10;

/// The digests that were uploaded for a file that is not there.
#[derive(Debug, Default)]
pub(crate) struct EarlyChecksums {
    digests: Vec<(Checksum, String)>,
    /// That there are no others.
    pub(crate) expect: Vec<Expect>,
    /// The changes that forget them.
    pub(crate) changes: Vec<Change>,
}

impl EarlyChecksums {
    /// Reads the checksums that came before `file`.
    pub(crate) async fn of(tree: Tree<'_>, file: &File<'_>, event: &mut Event) -> Result<Self> {
        match file.facts().keeps_checksums {
            true => Self::of_files(tree, file, event).await,
            false => Self::of_unit(tree, file, event).await,
        }
    }

    async fn of_unit(tree: Tree<'_>, file: &File<'_>, event: &mut Event) -> Result<Self> {
        let (repository, unit) = (tree.repository.id, unit(file.path));
        let known = tree.store.facts(repository, &unit, event).await?;
        let digest = |checksum: Checksum| Some((checksum, known.facts.get(checksum.ending())?.as_str()?.to_owned()));
        let digests: Vec<_> = Checksum::ALL.into_iter().filter_map(digest).collect();
        let forget = Change::Unit { repository, unit: unit.clone(), facts: Value::Null };
        let changes = if digests.is_empty() { Vec::new() } else { vec![forget] };
        Ok(Self { digests, expect: vec![Expect::UnitAt { repository, unit, seq: known.seq }], changes })
    }

    async fn of_files(tree: Tree<'_>, file: &File<'_>, event: &mut Event) -> Result<Self> {
        let mut early = Self::default();
        for checksum in Checksum::ALL {
            let (repository, key) = (tree.repository.id, format!("{}.{}", file.path, checksum.ending()));
            let Some(entry) = tree.store.entry(repository, &key, event).await? else {
                early.expect.push(Expect::KeyFree { repository, key });
                continue;
            };
            if entry.state != State::Live || entry.hashes.size_bytes > KEPT_CHECKSUM_MAX {
                continue;
            }
            // In a form that is not read here, it says nothing of the file.
            let body = tree.store.read_blob(entry.hashes.sha256, event).await?;
            early.digests.extend(checksum.read(&body).map(|digest| (checksum, digest)));
        }
        Ok(early)
    }

    /// Refuses bytes that do not have all these digests.
    pub(crate) fn check(&self, path: &str, hashes: &Hashes) -> Result<()> {
        for (checksum, said) in &self.digests {
            let is = digits(hashes, *checksum).unwrap_or_default();
            if is != *said {
                let (path, checksum, said) = (path.to_owned(), *checksum, said.clone());
                return Err(RefusedUpload::EarlyChecksumDiffers { path, checksum, said, is }.into());
            }
        }
        Ok(())
    }
}

/// Records a digest that was uploaded for a file that is not there. `false`: the file is there.
pub(crate) async fn record(
    tree: Tree<'_>,
    (file, checksum, digest): (&File<'_>, Checksum, &str),
    (by, now): (Actor<'_>, &impl Fn() -> Millis),
    event: &mut Event,
) -> Result<bool> {
    let (repository, unit) = (tree.repository.id, unit(file.path));
    for _ in 0..TRIES {
        // Taken before the file is looked for, so that its publication is noticed.
        let seq = tree.store.facts(repository, file.folder, event).await?.seq;
        match find(tree, file.path, tree.repository.whole(now()), event).await {
            Ok(_) => return Ok(false),
            Err(Error::NoSuchFile(_) | Error::Removed(_)) => {}
            Err(error) => return Err(error),
        }
        let known = tree.store.facts(repository, &unit, event).await?;
        let mut digests: Map<String, Value> = known.facts.as_object().cloned().unwrap_or_default();
        digests.insert(checksum.ending().to_owned(), digest.into());
        if known.facts.as_object() == Some(&digests) {
            return Ok(true);
        }
        let expect = vec![
            Expect::RepositoryLives(repository),
            Expect::UnitAt { repository, unit: file.folder.to_owned(), seq },
            Expect::UnitAt { repository, unit: unit.clone(), seq: known.seq },
        ];
        let change = Change::Unit { repository, unit: unit.clone(), facts: Value::Object(digests) };
        match tree.store.commit(by.batch(now(), expect, vec![change]), event).await {
            Ok(_) => return Ok(true),
            Err(CommitError::Conflict(conflict)) if matches!(conflict.0, Expect::RepositoryLives(_)) => {
                return Err(Error::NoSuchRepository(tree.repository.record.name.clone()));
            }
            Err(CommitError::Conflict(_)) => {}
            Err(CommitError::Error(error)) => return Err(error.into()),
        }
    }
    Err(Error::Contended(file.path.to_owned()))
}

/// The unit of the checksums that came before the file at this path. No folder has its name, because no path has two slashes in a row.
fn unit(path: &str) -> String {
    let above = paths::folder(paths::folder(path));
    format!("{above}//checksums/{}", path[above.len()..].trim_start_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::unit;

    #[test]
    fn the_unit_of_an_early_checksum_is_no_folder_of_files() {
        assert_eq!(unit("org/lamp/1.0/lamp-1.0.jar"), "org/lamp//checksums/1.0/lamp-1.0.jar");
        assert_eq!((unit("1.0/lamp").as_str(), unit("lamp").as_str()), ("//checksums/1.0/lamp", "//checksums/lamp"));
        assert!(format::tree::check(&unit("a/b/c")).is_err());
    }
}
