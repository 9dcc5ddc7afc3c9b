//! The cached files of a former upstream. A release with verified checksums has the same bytes in every upstream, so
//! the new upstream may keep it. Everything else is fetched again.

use crate::error::Result;
use crate::repositories::cached::Cached;
use crate::repository::Repository;
use crate::services::Services;
use std::sync::Arc;
use store::{CachedFile, CachedPath, Origin};
use telemetry::Event;

/// Number of files that one step reads from the cache database, so that other tasks get their turns.
const PART: usize = 1_000;

/// Counts the cached files of a repository's upstream.
pub(crate) async fn cached_of(services: &Services, repository: &Repository, event: &mut Event) -> Result<Cached> {
    let (mut cached, mut after) = (Cached::default(), String::new());
    while let Some(part) = part(services, repository.origin, &after, event).await? {
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

/// The same, if the settings of `then` name another upstream than those of `now`.
pub async fn former_files(
    services: &Services,
    now: &Arc<Repository>,
    then: &Repository,
    event: &mut Event,
) -> Result<Option<Cached>> {
    match now.origin == then.origin {
        true => Ok(None),
        false => Ok(Some(cached_of(services, now, event).await?)),
    }
}

/// Whether the cached file of a path stays when the upstream gets another URL and releases are kept.
pub async fn stays_cached(services: &Services, repository: &Repository, path: &str, event: &mut Event) -> Result<bool> {
    let asked = repository.file(path);
    // A checksum stays with its file.
    let file = asked.checksum().map_or(asked, |(of, _)| of);
    let kept = services.store.lookup_cached(repository.origin, file.path, services.clock.now(), event).await?;
    Ok(matches!(kept, Some(CachedPath::File(known, _)) if stays(repository, file.path, &known)))
}

/// Keeps verified releases of the former upstream for the new one.
pub(crate) async fn take_over(services: &Services, former: &Repository, to: Origin, event: &mut Event) -> Result<()> {
    let mut after = String::new();
    while let Some(part) = part(services, former.origin, &after, event).await? {
        after = part.last().map(|(path, _)| path.clone()).unwrap_or_default();
        let stay = part.into_iter().filter(|(path, file)| stays(former, path, file)).map(|(path, _)| path);
        services.store.take_over(former.origin, to, stay.collect(), event).await?;
    }
    Ok(())
}

/// The next files after a path; `None`: there are no more.
async fn part(
    services: &Services,
    of: Origin,
    after: &str,
    event: &mut Event,
) -> Result<Option<Vec<(String, CachedFile)>>> {
    let part = services.store.cached_files(of, "", after, PART, event).await?;
    Ok(Some(part).filter(|part| !part.is_empty()))
}

fn stays(repository: &Repository, path: &str, file: &CachedFile) -> bool {
    file.verified == Some(true) && repository.file(path).facts().is_immutable == Some(true)
}
