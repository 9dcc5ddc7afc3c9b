//! A gem upstream as of a moment: its log at that moment, and the `/info` lines and gems that are stored.
//!
//! The line of a version that was yanked since is in the journal if a client requested the gem here ([`vanished`]). Its
//! package is available while it is cached.

use crate::content::{Content, How};
use crate::error::purged::Purged;
use crate::error::{Error, Result};
use crate::gem::upstream::RemoteGems;
use crate::gem::upstream::info_rows::InfoRow;
use crate::gem::upstream::listing::Listed;
use crate::gem::upstream::vanished;
use crate::policy::rules::OPEN;
use crate::repository::Repository;
use crate::upstream::fetch::{answer, file_by};
use crate::upstream::proof::Proof;
use crate::upstream::trace::FetchTrace;
use crate::upstream::{Remembered, Remote};
use bytes::Bytes;
use format::gem::info::render;
use std::collections::HashMap;
use std::sync::Arc;
use telemetry::Event;

impl RemoteGems<'_> {
    /// The length of the log at the as-of moment.
    pub(crate) fn end(self) -> Result<usize> {
        let Some(past) = self.remote.repository.as_of else { return Ok(usize::MAX) };
        let (end, since) = self.known(|known| (known.listing.end(past.exceptions_by), known.listing.since()))?;
        let what = || self.remote.repository.record.name.clone();
        end.ok_or_else(|| Error::BeforeItsTime { what: what(), since: since.unwrap_or_default() })
    }

    /// The same upstream as of today and without a policy. The visibility at the moment is already decided.
    fn today(self) -> Remote {
        let today = Repository::seen(&self.remote.repository, OPEN.clone(), None);
        Remote { repository: Arc::new(today), ..self.remote.clone() }
    }

    /// The `/info` of a gem with the versions that were listed then. Versions whose lines no client ever requested here
    /// are missing.
    pub(crate) async fn info_then(self, name: &str, listed: &Listed, event: &mut Event) -> Result<Bytes> {
        let remote = self.today();
        let today = RemoteGems { remote: &remote, ..self };
        let now = Box::pin(today.whole_info(name, event)).await;
        // Read after it: if today's file is replaced meanwhile, the lines that disappear are recorded first.
        let mut lines: HashMap<String, String> = vanished::read(self.remote, name, event).await?.into_iter().collect();
        match now {
            Ok(versions) => lines.extend(versions.rows.into_iter().map(|row| (row.token, row.line))),
            // No call is needed for stored lines.
            Err(_) if listed.versions.iter().all(|version| lines.contains_key(&version.token)) => {}
            Err(error) => return Err(error),
        }
        let lines: Vec<String> = listed.versions.iter().filter_map(|version| lines.remove(&version.token)).collect();
        Ok(render(&lines).into())
    }

    /// The package of a version that was listed then.
    pub(crate) async fn gem_then(
        self,
        row: &InfoRow,
        path: &str,
        proof: Proof<'_>,
        trace: &mut FetchTrace,
        event: &mut Event,
    ) -> Result<Content> {
        let (remote, origin) = (self.today(), self.remote.repository.origin);
        let file = remote.repository.file(path);
        if self.index.gem(origin, &row.name).is_some_and(|gem| gem.has(&row.token)) {
            return Box::pin(file_by(&remote, &file, proof, trace, event)).await;
        }
        match remote.recall(&file, event).await? {
            Some(Remembered::File(kept)) if !proof.refutes(&kept.known) => {
                answer(&remote, &file, kept, How::Kept, None, trace, event).await
            }
            _ => {
                let end = self.end()?;
                let at = self.known(|known| known.listing.gone(&row.name, &row.token, end))?;
                let what = format!("{}-{}", row.name, row.token);
                Err(Purged::Yanked { what, at: at.unwrap_or_default() }.into())
            }
        }
    }
}
