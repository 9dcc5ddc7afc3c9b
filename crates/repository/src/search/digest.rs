//! Finds files by their SHA-1 or SHA-256.

use crate::error::Error;
use crate::repositories::Repositories;
use crate::repository::Repository;
use crate::search::answer::{SearchAnswer, SearchRequest};
use std::sync::Arc;
use store::RepositoryKind;
use telemetry::Event;

impl Repositories {
    /// The files with a digest, by repository, then by key.
    pub(crate) async fn files_of_digest(
        &self,
        members: &[Arc<Repository>],
        digest: &str,
        request: SearchRequest<'_>,
        event: &mut Event,
    ) -> Result<SearchAnswer, Error> {
        let mut all: Vec<(&Arc<Repository>, String)> = Vec::new();
        for repository in members {
            let keys = match repository.record.kind {
                RepositoryKind::Remote => {
                    self.services.store.cached_paths_of_digest(repository.origin, digest, event).await?
                }
                _ => self.services.store.keys_of_digest(repository.id, digest, event).await?,
            };
            all.extend(keys.into_iter().map(|key| (repository, key)));
        }
        let place = |(repository, key): &(&Arc<Repository>, String)| format!("{}:{key}", repository.record.name);
        let from = match request.after {
            "" => 0,
            after => all.iter().position(|one| place(one) == after).map_or(all.len(), |at| at + 1),
        };
        let count = all.len() as u64;
        let part: Vec<_> = all.into_iter().skip(from).take(request.limit).collect();
        let next = part.last().filter(|_| ((from + part.len()) as u64) < count).map(place);
        let mut hits = Vec::with_capacity(part.len());
        for (repository, key) in part {
            let hit = match repository.record.kind {
                RepositoryKind::Remote => self.cached_hit(repository, &key, event).await?,
                _ => self.published_hit(repository, &key, event).await?,
            };
            hits.extend(hit);
        }
        Ok(SearchAnswer { count, hits, next, building: Vec::new() })
    }
}
