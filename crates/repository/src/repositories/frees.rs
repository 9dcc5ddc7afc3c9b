//! How much space a removal frees, and when.

use crate::error::Result;
use crate::services::Services;
use std::collections::HashSet;
use store::{Digest, Entry, Frees, RepositoryId, Withdrawals};
use telemetry::Event;

/// Number of entries that one step reads.
const PAGE: usize = 1_000;

/// The space that withdrawals free, whether they are committed or only planned.
pub(crate) async fn frees_of(
    services: &Services,
    withdrawals: Withdrawals,
    made: bool,
    event: &mut Event,
) -> Result<Frees> {
    match made {
        // They are committed, even if the figure cannot be read.
        true => Ok(services.store.frees(withdrawals, event).await.unwrap_or_default()),
        false => Ok(services.store.would_free(withdrawals, event).await?),
    }
}

/// The space of cached files, which is free at once.
pub(crate) fn frees_cached(services: &Services, size_bytes: u64) -> Frees {
    Frees { size_bytes, on: (size_bytes > 0).then(|| services.clock.now()) }
}

/// The space of the entries that have this prefix and that `which` selects.
pub(crate) async fn frees_below(
    services: &Services,
    id: RepositoryId,
    prefix: &str,
    which: impl Fn(&Entry) -> bool,
    event: &mut Event,
) -> Result<Frees> {
    let (mut all, mut after, mut counted) = (Frees::default(), String::new(), HashSet::<Digest>::new());
    loop {
        let rows = services.store.entries_beginning(id, prefix, &after, PAGE, event).await?;
        let mut withdrawn = Withdrawals::default();
        for entry in rows.iter().filter(|entry| which(entry)) {
            // Several pages may have entries of the same blob.
            if counted.insert(entry.hashes.sha256) {
                withdrawn.add(id, entry);
            }
        }
        all = all.and(services.store.frees(withdrawn, event).await?);
        match rows.last() {
            Some(last) if rows.len() == PAGE => after.clone_from(&last.key),
            _ => return Ok(all),
        }
    }
}
