//! The prefixes of all paths that an upstream publishes (`.meta/prefixes.txt`), where a repository's settings have them used.
//!
//! They tell who is likely to have a file, never that nobody has it: published lists lag behind what is there, and some servers give
//! that of one of their own members (apache/maven 11856). So a group asks those members last whose lists have no prefix of a file.

use crate::content::{How, rows_of};
use crate::error::Error;
use crate::upstream::Remote;
use crate::upstream::fetch::file;
use crate::upstream::path_lists::{ListedPaths, PathList};
use crate::upstream::trace::FetchTrace;
use crate::upstream::ttl::Ttl;
use crate::workers::aside;
use format::maven::path::PREFIXES;
use format::maven::prefixes::Prefixes;
use std::sync::Weak;
use store::Lane;
use telemetry::{Event, Millis, Op};

/// Longest list that is read, in bytes: what a hundred thousand groups take.
const LONGEST: u64 = 2 << 20;

impl ListedPaths for Prefixes {
    fn exclude(&self, folder: &str) -> bool {
        Prefixes::exclude(self, folder)
    }

    fn weight(&self) -> usize {
        Prefixes::weight(self)
    }
}

/// Until when the upstream's list says that there is nothing in a folder. `None`: there may be. Nobody waits for the list: the first
/// request that needs it has it fetched, and does without.
pub(crate) fn excludes(remote: &Remote, folder: &str) -> Option<Millis> {
    let repository = &remote.repository;
    let used = repository.record.remote.as_ref().is_some_and(|remote| remote.prefixes == Some(true));
    if !used || repository.as_of.is_some() {
        return None;
    }
    let (of, now) = (repository.origin, remote.now());
    if let Some(list) = remote.remotes.lists.find(of, now) {
        return list.paths.as_ref().filter(|paths| paths.exclude(folder)).map(|_| list.until);
    }
    if repository.asks {
        // Meanwhile nobody else has it fetched.
        let until = Ttl::of(repository, &repository.file(PREFIXES)).missing_until(now);
        remote.remotes.lists.keep(of, PathList { paths: None, until });
        let remote = Remote { place: Weak::new(), ..remote.clone() };
        let back = remote.remotes.back.clone();
        back.spawn(async move {
            // Where it cannot be had it is as if there were none, and it is asked for again as late.
            if let Ok(list) = list(&remote, &mut Event::job("prefixes", now)).await {
                remote.remotes.lists.keep(of, list);
            }
        });
    }
    None
}

/// The list as the upstream has it now; what it had last is no proof of what is missing.
async fn list(remote: &Remote, event: &mut Event) -> Result<PathList, Error> {
    let prefixes = remote.repository.file(PREFIXES);
    let content = file(remote, &prefixes, &mut FetchTrace::default(), event).await?;
    let freshness = content.freshness.filter(|freshness| !matches!(freshness.how, How::Stale(_)));
    let age_s = freshness.ok_or(Error::GivenUp)?.age_s;
    let checked = Millis(remote.now().0 - i64::try_from(age_s).unwrap_or(i64::MAX / 1000) * 1000);
    let until = Ttl::of(&remote.repository, &prefixes).missing_until(checked);
    let len = content.hashes.as_ref().map_or(0, |hashes| hashes.size_bytes);
    let read = move || {
        let bytes = (len <= LONGEST).then(|| content.bytes()).flatten();
        Ok(bytes.and_then(|bytes| Prefixes::read(&bytes)))
    };
    let prefixes = aside(&remote.remotes.workers, Lane::Index, Op::PackageRead, rows_of(len), event, read).await?;
    Ok(PathList { paths: prefixes.map(|prefixes| Box::new(prefixes) as Box<dyn ListedPaths>), until })
}
