//! The last uses of versions and files, on the cache's thread. They may be lost with the cache: the recording then starts over.

use super::Store;
use crate::error::Result;
use crate::journal::record::RepositoryId;
use telemetry::{Event, Millis, Op};

impl Store {
    /// Starts or continues recording uses at `now`.
    pub async fn begin_uses(&self, now: Millis, event: &mut Event) -> Result<()> {
        self.freeing(event, move |cache| cache.begin_uses(now)).await
    }

    /// Records that these were used on a day, by its number since 1970. `lost`: some uses up to this moment are not recorded.
    pub async fn record_uses(
        &self,
        uses: Vec<(RepositoryId, String, i64)>,
        lost: Option<Millis>,
        event: &mut Event,
    ) -> Result<()> {
        self.freeing(event, move |cache| cache.record_uses(&uses, lost)).await
    }

    /// Removes the last uses of these names, which no longer exist.
    pub async fn forget_uses(&self, id: RepositoryId, names: Vec<String>, event: &mut Event) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        self.freeing(event, move |cache| cache.forget_uses(id, &names)).await
    }

    /// Stops the recording: all uses until now are recorded.
    pub async fn end_uses(&self, event: &mut Event) -> Result<()> {
        self.cached(Op::CacheWrite, event, |cache| cache.end_uses()).await
    }

    /// Since when all uses are recorded. The largest moment: they are not.
    pub async fn uses_since(&self, event: &mut Event) -> Result<Millis> {
        let since = self.cached(Op::CacheRead, event, |cache| cache.uses_since()).await?;
        Ok(since.unwrap_or(Millis(i64::MAX)))
    }

    /// Names of a repository that begin with `prefix`, each with the day of its last use, ordered by name.
    pub async fn last_uses(&self, id: RepositoryId, prefix: &str, event: &mut Event) -> Result<Vec<(String, i64)>> {
        let prefix = prefix.to_owned();
        self.cached(Op::CacheRead, event, move |cache| cache.last_uses(id, &prefix)).await
    }
}
