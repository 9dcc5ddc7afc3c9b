//! One look for a request through a group: the facts about a folder, and the file at the upstreams that may have it.

use super::Store;
use crate::cache::{Cache, CachedPath, FolderPresence, Origin, split};
use crate::error::Result;
use crate::pool::lane::Lane;
use std::sync::Arc;
use telemetry::{Event, Millis, Op};

/// The most upstreams at which a path is looked up in one turn.
const UPSTREAMS_MAX: usize = 8;

/// What a look found.
#[derive(Debug)]
pub struct FolderLook {
    /// The facts about the folder, of all upstreams.
    pub presence: Arc<FolderPresence>,
    /// The upstreams at which the path was looked up, and their results.
    pub found: Vec<(Origin, Option<CachedPath>)>,
}

impl Store {
    /// The facts about the folder of a path, and the lookup of the path, in one turn of the cache's thread: at the first of these
    /// upstreams that has the folder, unless it is known to lack the path; at all of them if none is known to have the folder.
    pub async fn look_in_folder(
        &self,
        path: &str,
        upstreams: Vec<Origin>,
        now: Millis,
        event: &mut Event,
    ) -> Result<FolderLook> {
        let (queued, asked) = (self.arrivals.facts_in(split(path).0), path.to_owned());
        // Queued entries of the folder are found in memory, without this look.
        let upstreams = if queued.is_empty() { upstreams } else { Vec::new() };
        let look = move |cache: &mut Cache| -> Result<_> {
            let (folder, name) = split(&asked);
            let presence = cache.folder(folder)?;
            let proven = |of: &Origin| presence.upstream(*of);
            let wanted = match upstreams.iter().find(|of| proven(of).is_some_and(|proven| proven.has)) {
                Some(first) if proven(first).is_some_and(|proven| proven.missing_until(name).is_some()) => Vec::new(),
                Some(first) => vec![*first],
                None if upstreams.len() <= UPSTREAMS_MAX => upstreams,
                None => Vec::new(),
            };
            let found: Result<Vec<_>> = wanted.into_iter().map(|of| Ok((of, cache.lookup(of, &asked, now)?))).collect();
            Ok((presence, found?))
        };
        let (presence, looked) = self.cache.run(Lane::Single, Op::CacheRead, event, look).await??;
        let mut found = Vec::with_capacity(looked.len());
        for (of, looked) in looked {
            // It may have been queued meanwhile.
            let found_here = match self.queued(of, path) {
                Some(queued) => Some(queued),
                None => self.usable(of, path, looked, now, event).await?,
            };
            found.push((of, found_here));
        }
        Ok(FolderLook { presence: presence.with(queued), found })
    }
}
