//! What an upstream says of the beginnings of all its paths (`.meta/prefixes.txt`), where a repository's settings have it used.
//!
//! It tells who is likely to have a file, never that nobody has it: published lists lag behind what is there, and some servers give
//! that of one of their own members (apache/maven 11856). So in a group those are asked last whose lists have no beginning of it.

use crate::content::{How, rows_of};
use crate::error::Error;
use crate::format::Format;
use crate::index::bounded_cache::BoundedCache;
use crate::upstream::Remote;
use crate::upstream::fetch::{FetchTrace, file};
use crate::upstream::ttl::Ttl;
use crate::workers::aside;
use format::maven::path::PREFIXES;
use format::maven::prefixes::Prefixes;
use format::tree;
use std::sync::{Arc, Weak};
use store::{Lane, Origin};
use telemetry::{Bound, BoundName, Event, Millis, Op};

/// Bytes of lists in memory; of more, those that are asked least are read again.
const ROOM: u64 = 16 << 20;
/// Upstreams that are expected, roughly.
const UPSTREAMS: usize = 100;
/// Longest list that is read, in bytes: what a hundred thousand groups take.
const LONGEST: u64 = 2 << 20;

/// The lists of upstreams, in memory.
#[derive(Debug)]
pub(crate) struct PrefixLists(BoundedCache<Origin, List>);

/// What an upstream said last.
#[derive(Debug)]
struct List {
    /// `None`: nothing that can be used, or nobody has looked yet.
    prefixes: Option<Prefixes>,
    /// Until when that counts.
    until: Millis,
}

impl PrefixLists {
    /// Knows none yet.
    pub(crate) fn new() -> Self {
        let weigh = |_: &Origin, list: &List| {
            let prefixes = list.prefixes.as_ref().map_or(0, Prefixes::weight);
            (size_of::<Origin>() + size_of::<List>() + prefixes) as u64
        };
        Self(BoundedCache::new(Bound::new(BoundName::UpstreamPrefixes, "", ROOM), UPSTREAMS, weigh))
    }

    pub(crate) fn bound(&self) -> &Arc<Bound> {
        self.0.bound()
    }

    fn keep(&self, of: Origin, list: List) {
        self.0.insert(of, Arc::new(list));
    }
}

impl Remote {
    /// Until when the upstream's list says that there is nothing in the folder of `path`. `None`: there may be. Nobody waits for the
    /// list: who needs it first has it asked for, and does without.
    pub(crate) fn excludes(&self, path: &str) -> Option<Millis> {
        let repository = &self.repository;
        let used = repository.record.remote.as_ref().is_some_and(|remote| remote.prefixes == Some(true));
        if !used || repository.format != Format::Maven || repository.as_of.is_some() {
            return None;
        }
        let (of, now) = (repository.origin, self.now());
        if let Some(list) = self.remotes.lists.0.get(&of).filter(|list| now < list.until) {
            return list.prefixes.as_ref().filter(|list| list.exclude(tree::folder(path))).map(|_| list.until);
        }
        if repository.asks {
            // Meanwhile nobody else has it asked for.
            let until = Ttl::of(repository, PREFIXES).missing_until(now);
            self.remotes.lists.keep(of, List { prefixes: None, until });
            let remote = Remote { place: Weak::new(), ..self.clone() };
            self.remotes.back.spawn(async move {
                // Where it cannot be had it is as if there were none, and it is asked for again as late.
                if let Ok(list) = remote.list(&mut Event::job("prefixes", now)).await {
                    remote.remotes.lists.keep(of, list);
                }
            });
        }
        None
    }

    /// The list as the upstream has it now; what it had last is no proof of what is missing.
    async fn list(&self, event: &mut Event) -> Result<List, Error> {
        let content = file(self, PREFIXES, &mut FetchTrace::default(), event).await?;
        let freshness = content.freshness.filter(|freshness| !matches!(freshness.how, How::Stale(_)));
        let age_s = freshness.ok_or(Error::GivenUp)?.age_s;
        let checked = Millis(self.now().0 - i64::try_from(age_s).unwrap_or(i64::MAX / 1000) * 1000);
        let until = Ttl::of(&self.repository, PREFIXES).missing_until(checked);
        let len = content.hashes.as_ref().map_or(0, |hashes| hashes.size_bytes);
        let read = move || {
            let bytes = (len <= LONGEST).then(|| content.bytes()).flatten();
            Ok(bytes.and_then(|bytes| Prefixes::read(&bytes)))
        };
        let prefixes = aside(&self.remotes.workers, (Lane::Index, Op::PackageRead), rows_of(len), event, read).await?;
        Ok(List { prefixes, until })
    }
}
