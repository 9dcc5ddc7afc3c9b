//! Facts about the files that members have and lack, recorded by the store's own functions: requesting so many files over
//! HTTP would take hours.

use crate::http::Connection;
use crate::process::{Server, TOKEN};
use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use store::{Arrival, CachedFile, Hashes, Origin, RepositoryRecord, Store, StoreOptions};
use telemetry::{Clock, Event, Millis, Recorder, RecorderOptions};

pub(super) const HOSTED: usize = 12;
pub(super) const REMOTES: usize = 8;
/// The number of folders of versions, unless `GROUP_FOLDERS` sets another.
const FOLDERS: usize = 500_000;
/// The number of folders of which the bytes of two files are also cached.
pub(super) const KEPT: usize = 60_000;
/// The files of each folder that the last member has; the first one was requested from the other members, before there were
/// facts.
pub(super) const HAS: [&str; 10] = [
    ".pom",
    ".jar",
    ".module",
    "-sources.jar",
    "-javadoc.jar",
    "-tests.jar",
    ".pom.asc",
    ".jar.asc",
    ".module.asc",
    "-sources.jar.asc",
];
/// The files that it was proven to lack.
const LACKS: [&str; 3] = ["-linux.jar", "-jdk8.jar", "-test-sources.jar"];
/// The number of folders that are recorded at once, so that the recording thread never waits.
const AT_ONCE: usize = 16;
/// The TTL of missing files: longer than the folder is used.
const LONG: Duration = Duration::from_secs(3650 * 24 * 3600);
/// The bytes of each cached file.
static BYTES: [u8; 2 << 10] = [b'x'; 2 << 10];

/// The number of folders of versions.
pub(super) fn folders() -> Result<usize> {
    let folders = std::env::var("GROUP_FOLDERS").map_or(Ok(FOLDERS), |text| text.parse())?;
    ensure!(folders >= KEPT, "files are requested from {KEPT} folders, so {folders} are too few");
    Ok(folders)
}

/// A file of a folder.
pub(super) fn path(folder: usize, ending: &str) -> String {
    let (group, artifact, version) = (folder / 5_000, folder / 10 % 500, folder % 10);
    format!("org/example/g{group:03}/lamp-{artifact:03}/1.{version}/lamp-{artifact:03}-1.{version}{ending}")
}

/// Makes a data folder with the repositories and the facts.
pub(super) fn folder(data: &Path, folders: usize) -> Result<()> {
    let began = Instant::now();
    repositories(data, wanted())?;
    filling(data, async |store, now| note_all(store, folders, now).await)?;
    println!("recorded in {:.0} s", began.elapsed().as_secs_f64());
    Ok(())
}

/// Hosted members first, then remote ones whose upstreams get no requests, in three nested groups.
fn wanted() -> Vec<Value> {
    let names = |kind: &str, count: usize| (0..count).map(|number| format!("{kind}-{number}")).collect::<Vec<_>>();
    let (hosted, remotes) = (names("ours", HOSTED), names("far", REMOTES));
    let mut wanted: Vec<Value> = Vec::new();
    wanted.extend(hosted.iter().map(|name| json!({ "name": name, "format": "maven", "kind": "hosted" })));
    wanted.extend(remotes.iter().map(|name| {
        let remote = json!({ "urls": [format!("http://127.0.0.1:9/{name}/")] });
        json!({ "name": name, "format": "maven", "kind": "remote", "remote": remote })
    }));
    let group = |name: &str, members: Vec<String>| json!({ "name": name, "format": "maven", "members": members });
    let (near, far) = remotes.split_at(REMOTES / 2);
    let (first, second) = hosted.split_at(HOSTED / 2);
    wanted.push(group("innermost", far.to_vec()));
    wanted.push(group("inner", [second, near, &["innermost".to_owned()]].concat()));
    wanted.push(group("all", [first, &["inner".to_owned()]].concat()));
    wanted
}

/// Makes a data folder with these repositories.
pub(crate) fn repositories(data: &Path, wanted: impl IntoIterator<Item = Value>) -> Result<()> {
    let logs = tempfile::tempdir()?;
    let server = Server::daylight_on(data, logs.path(), &[])?;
    let mut connection = Connection::open(server.address.parse()?)?;
    let headers = [("Authorization", TOKEN), ("Content-Type", "application/json")];
    for wanted in wanted {
        let made = connection.call("POST", "/api/v1/repositories", &headers, wanted.to_string().as_bytes())?;
        ensure!(made.status == 201, "making a repository: {}", made.text());
    }
    Ok(())
}

/// Opens the store of a data folder, and lets `fill` write into it, at the moment that it is given.
pub(crate) fn filling<T>(data: &Path, fill: impl AsyncFnOnce(&Arc<Store>, Millis) -> Result<T>) -> Result<T> {
    let clock = Clock::default();
    let options = RecorderOptions::of(clock.clone());
    let recorder = Recorder::start(options, Vec::new());
    let store = Store::open(StoreOptions::new(data, clock.clone(), recorder))?;
    let filled = tokio::runtime::Builder::new_current_thread().build()?.block_on(fill(&store, clock.now()));
    store.close();
    filled
}

/// The URLs of a remote repository's upstream, from the settings that are opaque to the store.
pub(super) fn urls(record: &RepositoryRecord) -> Option<Vec<String>> {
    let record = serde_json::to_value(record).ok()?;
    serde_json::from_value(record.pointer("/remote/urls")?.clone()).ok()
}

/// Records the facts about all folders, some at a time.
async fn note_all(store: &Arc<Store>, folders: usize, now: Millis) -> Result<()> {
    let all = store.repositories(&mut Event::job("fill", now)).await?;
    let origin = |number: usize| {
        let (id, record) = all.iter().find(|(_, record)| record.name == format!("far-{number}"))?;
        Some(Origin::new(*id, &urls(record)?))
    };
    let origins: Arc<[Origin]> = (0..REMOTES).map(origin).collect::<Option<_>>().context("a member is missing")?;
    let hashes = Hashes::of(&BYTES);
    let file = CachedFile::fetched(hashes, now);
    let mut under_way = Vec::new();
    for part in 0..AT_ONCE {
        let (store, origins, file) = (store.clone(), origins.clone(), file.clone());
        let part = folders * part / AT_ONCE..folders * (part + 1) / AT_ONCE;
        under_way.push(tokio::spawn(async move {
            let mut event = Event::job("fill", now);
            for folder in part {
                note(&store, &origins, &file, (folder, now), &mut event).await?;
            }
            anyhow::Ok(())
        }));
    }
    for one in under_way {
        one.await??;
    }
    Ok(())
}

/// The facts about a folder, in the order in which requests would find them.
async fn note(
    store: &Store,
    origins: &[Origin],
    file: &CachedFile,
    (folder, now): (usize, Millis),
    event: &mut Event,
) -> Result<()> {
    let Some((last, others)) = origins.split_last() else { return Ok(()) };
    let until = now.plus(LONG);
    for other in others {
        store.record_missing(*other, &path(folder, HAS[0]), now, until, event).await?;
    }
    for (at, ending) in HAS.iter().enumerate() {
        // Without space for bytes, only the fact that the file exists is recorded.
        let max_bytes = (folder >= KEPT || at > 1).then_some(0);
        let arrival = Arrival::Bytes(BYTES[..].into());
        store.keep_cached(*last, &path(folder, ending), file.clone(), arrival, max_bytes, event).await?;
    }
    for ending in LACKS {
        store.record_missing(*last, &path(folder, ending), now, until, event).await?;
    }
    Ok(())
}
