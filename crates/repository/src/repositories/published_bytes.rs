//! Finds published bytes by their digest, for an upload that names its bytes instead of sending them.

use crate::content::digits;
use crate::error::Result;
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::visible::shown;
use format::tree::Checksum;
use std::sync::Arc;
use store::{Hashes, RepositoryKind, Staged};
use telemetry::Event;

/// Most files of a repository that are looked at: those with one digest usually have the same bytes.
const FILES_MAX: usize = 16;

impl Repositories {
    /// The bytes of a published file that has all these digests, as if they had been uploaded. Only hosted repositories that `may_read`
    /// accepts are searched, and the work does not depend on what the others have. `None`: there is no such file, several files have
    /// the SHA-1 and other bytes, or `digests` has neither a SHA-1 nor a SHA-256: an MD5 identifies nothing.
    pub async fn published_bytes(
        &self,
        digests: &[(Checksum, String)],
        may_read: impl Fn(&Repository) -> bool,
        event: &mut Event,
    ) -> Result<Option<Staged>> {
        let of = |wanted: Checksum| digests.iter().find(|(checksum, _)| *checksum == wanted);
        let Some((_, digest)) = of(Checksum::Sha256).or_else(|| of(Checksum::Sha1)) else { return Ok(None) };
        let known = self.table(event).await?;
        let hosted = known.by_name.values().filter(|one| one.record.kind == RepositoryKind::Hosted);
        let mut found: Option<Hashes> = None;
        for repository in hosted.filter(|one| may_read(one)) {
            for hashes in self.hashes_of(repository, digest, event).await? {
                if digests.iter().any(|(checksum, said)| digits(&hashes, *checksum).as_ref() != Some(said)) {
                    continue;
                }
                match &found {
                    Some(other) if other.sha256 != hashes.sha256 => return Ok(None),
                    Some(_) => {}
                    None => found = Some(hashes),
                }
            }
        }
        match found {
            Some(hashes) => Ok(self.services.store.stage_published(hashes, event).await?),
            None => Ok(None),
        }
    }

    /// The digests of the files of a repository with this one that clients may read.
    async fn hashes_of(&self, repository: &Arc<Repository>, digest: &str, event: &mut Event) -> Result<Vec<Hashes>> {
        let mut found = Vec::new();
        for key in self.services.store.keys_of_digest(repository.id, digest, event).await?.into_iter().take(FILES_MAX) {
            let Some(entry) = self.services.store.entry(repository.id, &key, event).await? else { continue };
            if shown(&entry, repository.view(self.services.clock.now())).is_ok() {
                found.push(entry.hashes);
            }
        }
        Ok(found)
    }
}
