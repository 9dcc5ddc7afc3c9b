//! Compares large cached files with their digests after they were answered, so that no client waits for it.

use crate::upstream::Remote;
use format::tree;
use std::sync::Arc;
use store::CachedFile;

impl Remote {
    /// Starts the check of a file that was not checked for long. One check runs at a time. A damaged file is deleted
    /// from the cache, and answers made from it become invalid.
    pub(crate) fn verify_later(&self, path: &str, known: &Arc<CachedFile>) {
        let Some(turn) = self.remotes.store.begin_verification(known, self.now()) else { return };
        let remote = Self { looked_up: None, ..self.clone() };
        let (path, known) = (path.to_owned(), known.clone());
        self.remotes.back.spawn(async move {
            let mut job = remote.job("verify", &path);
            let (store, repository) = (&remote.remotes.store, &remote.repository);
            let looked = store.verify_cached(repository.origin, &path, &known, remote.now(), &mut job).await;
            match &looked {
                Ok(true) => {}
                Ok(false) => store.upstream_changed(repository.id, tree::folder(&path)),
                Err(error) => (job.reason, job.detail) = (Some(crate::error::store_reason(error)), error.to_string()),
            }
            job.end_as(&looked);
            drop(turn);
        });
    }
}
