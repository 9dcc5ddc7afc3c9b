//! How many bytes come free when something is removed, and when.

use crate::error::Error;
use crate::repositories::Repositories;
use std::collections::HashSet;
use store::{Digest, Entry, Frees, RepositoryId, Withdrawals};
use telemetry::Event;

/// Entries that are read at a time.
const PAGE: usize = 1_000;

impl Repositories {
    /// What comes free of withdrawals that were made, or would come free of those that are only planned.
    pub(crate) async fn frees_of(
        &self,
        withdrawals: Withdrawals,
        made: bool,
        event: &mut Event,
    ) -> Result<Frees, Error> {
        match made {
            // They stay made, whether the figure can be read or not.
            true => Ok(self.store.frees(withdrawals, event).await.unwrap_or_default()),
            false => Ok(self.store.would_free(withdrawals, event).await?),
        }
    }

    /// What comes free of so many bytes of cached files. They are deleted at once.
    pub(crate) fn frees_cached(&self, size_bytes: u64) -> Frees {
        Frees { size_bytes, on: (size_bytes > 0).then(|| self.clock.now()) }
    }

    /// What comes free of the entries whose keys begin with `prefix` and that `which` names.
    pub(crate) async fn frees_below(
        &self,
        id: RepositoryId,
        prefix: &str,
        which: impl Fn(&Entry) -> bool,
        event: &mut Event,
    ) -> Result<Frees, Error> {
        let (mut all, mut after, mut counted) = (Frees::default(), String::new(), HashSet::<Digest>::new());
        loop {
            let rows = self.store.entries_beginning(id, prefix, &after, PAGE, event).await?;
            let mut withdrawn = Withdrawals::default();
            for entry in rows.iter().filter(|entry| which(entry)) {
                // The same bytes may be on several pages.
                if counted.insert(entry.hashes.sha256) {
                    withdrawn.add(id, entry);
                }
            }
            all = all.and(self.store.frees(withdrawn, event).await?);
            match rows.last() {
                Some(last) if rows.len() == PAGE => after.clone_from(&last.key),
                _ => return Ok(all),
            }
        }
    }
}
