//! Lines that an upstream's `/info` once had and no longer has, because their versions were yanked. The journal keeps
//! them if a client requested the gem here, so that an earlier build can be repeated.
//!
//! They are first-seen rows of a unit for each gem.

use crate::author::Author;
use crate::error::{Error, Result};
use crate::gem::upstream::listing::Listed;
use crate::upstream::first_seen::store::FirstSeenStore;
use crate::upstream::{KeptFile, Remote, document_bytes};
use format::gem::upstream::{INFO_BYTES, Info};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};
use store::{Change, CommitError, Expect, FirstSeen};
use telemetry::Event;

/// The content of a row.
#[derive(Debug, Serialize, Deserialize)]
struct Row {
    /// Versions with their platforms, and the line of each.
    vanished: BTreeMap<String, String>,
}

fn unit(remote: &Remote, name: &str) -> String {
    FirstSeenStore::of(remote).units.unit(&format!("info/{name}"))
}

/// The lines of a gem that disappeared.
pub(crate) async fn read(remote: &Remote, name: &str, event: &mut Event) -> Result<BTreeMap<String, String>> {
    let unit = unit(remote, name);
    let parse = |rows: Vec<FirstSeen>| -> Result<BTreeMap<String, String>, serde_json::Error> {
        let mut all = BTreeMap::new();
        for row in rows {
            all.extend(serde_json::from_str::<Row>(row.seen.get())?.vanished);
        }
        Ok(all)
    };
    let read = remote.remotes.store.first_seen(remote.repository.id, &unit, None, parse, event).await?;
    read.map_err(|source| Error::Unreadable { key: unit, source })
}

/// Records the lines of a cached `/info` whose versions are no longer listed. The caller replaces the file next.
pub(crate) async fn note(
    remote: &Remote,
    name: &str,
    kept: &KeptFile,
    listed: &Listed,
    event: &mut Event,
) -> Result<()> {
    if !remote.repository.asks || kept.known.hashes.md5.as_ref() == Some(&listed.md5) {
        return Ok(());
    }
    let body = document_bytes::read(&kept.held, kept.known.hashes.size_bytes, INFO_BYTES)();
    let Ok(Ok(info)) = body.map(Info::read) else { return Ok(()) };
    let offered: HashSet<&str> = listed.versions.iter().map(|version| version.token.as_str()).collect();
    let lines = info.lines().filter(|line| !offered.contains(line.token));
    let mut vanished: BTreeMap<String, String> =
        lines.map(|line| (line.token.to_owned(), line.text.to_owned())).collect();
    if vanished.is_empty() {
        return Ok(());
    }
    let known = read(remote, name, event).await?;
    vanished.retain(|token, line| known.get(token) != Some(line));
    if vanished.is_empty() || FirstSeenStore::of(remote).is_full(event).await? {
        return Ok(());
    }
    let (unit, repository, store) = (unit(remote, name), remote.repository.id, &remote.remotes.store);
    let seen = serde_json::to_value(Row { vanished });
    let seen = seen.map_err(|source| Error::Unreadable { key: unit.clone(), source })?;
    let change = Change::FirstSeen { repository, unit, whole: false, uncounted: false, seen };
    let batch = Author::SERVER.batch(store.now(), vec![Expect::RepositoryLives(repository)], vec![change]);
    match store.commit(batch, event).await {
        Ok(_) | Err(CommitError::Conflict(_)) => Ok(()),
        Err(CommitError::Error(error)) => Err(error.into()),
    }
}
