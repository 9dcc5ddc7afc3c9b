//! What becomes of the files that are kept of an upstream when its repository is turned to another. The bytes of a release that had the
//! checksums of the former upstream are those that clients ask for, wherever they came from; all else is asked of the new one.

use crate::error::Error;
use crate::repositories::Repositories;
use crate::repositories::cached::Cached;
use crate::repository::Repository;
use std::sync::Arc;
use store::{CachedFile, Origin};
use telemetry::Event;

/// Files that are looked at in one turn of the cache: others are let in between.
const PART: usize = 1_000;

impl Repositories {
    /// What is kept of the upstream of a repository.
    pub async fn cached(&self, repository: &Repository, event: &mut Event) -> Result<Cached, Error> {
        let (mut cached, mut after) = (Cached::default(), String::new());
        while let Some(part) = self.part(repository.origin, &after, event).await? {
            for (path, file) in &part {
                cached.files += 1;
                cached.size_bytes += file.hashes.size_bytes;
                if stays(repository, path, file) {
                    cached.verified_files += 1;
                    cached.verified_bytes += file.hashes.size_bytes;
                }
            }
            after = part.last().map(|(path, _)| path.clone()).unwrap_or_default();
        }
        Ok(cached)
    }

    /// What is kept of the upstream that a repository would be turned away from; `None`: it stays where it is.
    pub async fn former(
        &self,
        now: &Arc<Repository>,
        then: &Repository,
        event: &mut Event,
    ) -> Result<Option<Cached>, Error> {
        match now.origin == then.origin {
            true => Ok(None),
            false => Ok(Some(self.cached(now, event).await?)),
        }
    }

    /// Makes what may stay of a former upstream the new one's.
    pub(crate) async fn take_over(&self, former: &Repository, to: Origin, event: &mut Event) -> Result<(), Error> {
        let mut after = String::new();
        while let Some(part) = self.part(former.origin, &after, event).await? {
            after = part.last().map(|(path, _)| path.clone()).unwrap_or_default();
            let stay = part.into_iter().filter(|(path, file)| stays(former, path, file)).map(|(path, _)| path);
            self.store.take_over(former.origin, to, stay.collect(), event).await?;
        }
        Ok(())
    }

    /// Some files after this path; `None`: there are no more.
    async fn part(
        &self,
        of: Origin,
        after: &str,
        event: &mut Event,
    ) -> Result<Option<Vec<(String, CachedFile)>>, Error> {
        let part = self.store.cached_files(of, "", after, PART, event).await?;
        Ok(Some(part).filter(|part| !part.is_empty()))
    }
}

fn stays(repository: &Repository, path: &str, file: &CachedFile) -> bool {
    file.verified == Some(true) && repository.file(path).is_immutable() == Some(true)
}
