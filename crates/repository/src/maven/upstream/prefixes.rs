//! The prefixes of all paths that an upstream publishes (`.meta/prefixes.txt`), if the repository's settings use them.
//!
//! The list shows who is likely to have a file. It never proves that a file is missing: published lists lag behind the
//! content, and some servers return the list of one of their own members (apache/maven 11856). So a group asks a member
//! last if its list excludes the folder of the file.

use crate::content::{How, rows_of};
use crate::error::{Error, Result};
use crate::maven::layout::MavenPath;
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

/// Maximum length of a list, in bytes: enough for a hundred thousand groups.
const LONGEST: u64 = 2 << 20;

impl ListedPaths for Prefixes {
    fn exclude(&self, folder: &str) -> bool {
        Prefixes::exclude(self, folder)
    }

    fn weight(&self) -> usize {
        Prefixes::weight(self)
    }
}

impl MavenPath<'_> {
    /// Until when the upstream's list excludes the folder of the file; `None`: it does not. No request waits for the list: the first one
    /// that needs it starts the fetch and continues without it.
    pub(crate) fn excluded_by(&self, remote: &Remote) -> Option<Millis> {
        let repository = &remote.repository;
        let used = repository.record.remote.as_ref().is_some_and(|remote| remote.prefixes == Some(true));
        if !used || repository.as_of.is_some() {
            return None;
        }
        let (of, now) = (repository.origin, remote.now());
        if let Some(list) = remote.remotes.lists.find(of, now) {
            return list.paths.as_ref().filter(|paths| paths.exclude(self.unit())).map(|_| list.until);
        }
        if repository.asks {
            // Meanwhile no other request fetches it.
            let until = Ttl::of(repository, &repository.file(PREFIXES)).missing_until(now);
            remote.remotes.lists.keep(of, PathList { paths: None, until });
            let remote = Remote { place: Weak::new(), ..remote.clone() };
            let back = remote.remotes.back.clone();
            back.spawn(async move {
                // If the fetch fails, there is no list until the next attempt, which is as far away as a refresh.
                if let Ok(list) = list(&remote, &mut Event::job("prefixes", now)).await {
                    remote.remotes.lists.keep(of, list);
                }
            });
        }
        None
    }
}

/// Returns the present list of the upstream. A stale list is not used.
async fn list(remote: &Remote, event: &mut Event) -> Result<PathList> {
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
