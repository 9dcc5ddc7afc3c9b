//! Two programs with a store each over one truth, like two processes: one makes a change that the other has not seen.

pub(crate) mod two_stores;

use super::*;
use crate::config::{self, Environment, Machine, References};
use client::{Hosts, HostsOptions};
use repository::{MemoryLimits, UpstreamLimits, WaitersLimits, Workers};
use std::sync::Arc;
use store::{PoolOptions, Threads};
use telemetry::{Bound, BoundName, Clock, Op, PoolName, Recorder};
use two_stores::two_stores;

/// One program.
struct Program {
    repositories: Repositories,
    access: Access,
    store: Arc<Store>,
}

async fn program(store: &Arc<Store>, clock: &Clock, recorder: &Arc<Recorder>) -> Program {
    let mut event = Event::job("test", Millis(0));
    let threads = Threads::Working("work");
    let (pool, bound) = (PoolName::WorkThreads, BoundName::WorkThreads);
    let options = PoolOptions { threads, pool, bound, capacity: 64, wait: Op::WorkWait };
    let workers = Workers::start(options, recorder, vec![()]).unwrap();
    let limits = MemoryLimits {
        indexes: Bound::new(BoundName::Indexes, "", 1 << 20),
        dependencies_bytes: 1 << 20,
        views_bytes: 1 << 20,
        open_files: 8,
        folders_bytes: 1 << 20,
        pushed_gems_bytes: 1 << 20,
        merging_bytes: 1 << 20,
        upstreams: UpstreamLimits {
            prefixes_bytes: 1 << 20,
            indexes_bytes: 1 << 20,
            koji_maps_bytes: 1 << 20,
            open_files: 8,
            fetches: 8,
            width: 8,
        },
        waiters: WaitersLimits { all: 8, each_repository: 8, each_client: 8 },
    };
    let (references, hosts) = (Arc::new(References::default()), Hosts::new(recorder.clone(), HostsOptions::default()));
    let opened =
        Repositories::open(store.clone(), workers, recorder.clone(), limits, references, hosts, &mut event).await;
    let access = Access::open(store.clone(), clock.clone(), &mut event).await.unwrap();
    Program { repositories: opened.unwrap(), access, store: store.clone() }
}

async fn two(folder: &tempfile::TempDir) -> [Program; 2] {
    let clock = Clock::at(Millis(1_000_000));
    let [(one, of_one), (other, of_other)] = two_stores(folder, &clock);
    [program(&one, &clock, &of_one).await, program(&other, &clock, &of_other).await]
}

impl Program {
    async fn start(&self) -> FirstContent {
        let (settings, _) = config::load(None, &Environment::default(), &[], Machine::here()).unwrap();
        let first = first_repositories(FormatVersion::default(), &settings.upstream);
        let (repositories, access) = (&self.repositories, &self.access);
        let mut event = Event::job("test", Millis(0));
        prepare(&self.store, None, first, repositories, access, ChangeSource::Server, &mut event).await.unwrap()
    }

    async fn set_members(&self, name: &str, members: &[&str]) -> Result<(), repository::Error> {
        let change = |record: &mut RepositoryRecord| {
            record.members = members.iter().map(|member| (*member).to_owned()).collect();
            Ok(())
        };
        let mut event = Event::job("test", Millis(0));
        self.repositories.set(name, change, Author::SERVER, &mut event).await.map(drop)
    }

    /// Makes a hosted repository, or a group of these members.
    async fn add(&self, name: &str, members: &[&str]) {
        let kind = if members.is_empty() { RepositoryKind::Hosted } else { RepositoryKind::Group };
        let members = members.iter().map(|member| (*member).to_owned()).collect();
        let record = RepositoryRecord { members, ..RepositoryRecord::new(name, "maven", kind, Millis(0)) };
        let mut event = Event::job("test", Millis(0));
        self.repositories.add(record, Author::SERVER, &mut event).await.unwrap();
    }

    /// The present settings, also after a change by the other program.
    async fn record(&self, name: &str) -> RepositoryRecord {
        let mut event = Event::job("test", Millis(0));
        self.store.follow(&mut event).await.unwrap();
        self.repositories.find(name, &mut event).await.unwrap().0.record.clone()
    }
}

#[tokio::test]
async fn of_two_programs_that_start_at_once_one_makes_everything_in_one_batch_and_both_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = two(&folder).await;
    let (first, second) = tokio::join!(one.start(), other.start());
    let made = [&first, &second].map(|made| (made.repositories.len(), made.admin_token.is_some()));
    assert!(made == [(7, true), (0, false)] || made == [(0, false), (7, true)], "{made:?}");
    assert_eq!(one.store.last(), Seq(8));
    let mut event = Event::job("test", Millis(0));
    let secret = [first, second].into_iter().find_map(|made| made.admin_token).unwrap();
    assert!(one.access.is_admin(&secret, &mut event).await.unwrap());
    assert!(other.access.is_admin(&secret, &mut event).await.unwrap());
}

#[tokio::test]
async fn settings_that_two_programs_change_at_once_are_both_kept() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = two(&folder).await;
    one.add("files", &[]).await;
    let (mut here, mut there) = (Event::job("test", Millis(0)), Event::job("test", Millis(0)));
    let private = |record: &mut RepositoryRecord| {
        record.private = true;
        Ok(())
    };
    let versions = |record: &mut RepositoryRecord| {
        record.versions = Some("releases".to_owned());
        Ok(())
    };
    // Both have read the settings.
    other.record("files").await;
    one.record("files").await;
    let (first, second) = tokio::join!(
        one.repositories.set("files", private, Author::SERVER, &mut here),
        other.repositories.set("files", versions, Author::SERVER, &mut there),
    );
    first.unwrap();
    second.unwrap();
    let record = one.record("files").await;
    assert!(record.private && record.versions.as_deref() == Some("releases"), "{record:?}");
}

#[tokio::test]
async fn two_programs_make_no_circle_of_groups() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = two(&folder).await;
    one.add("files", &[]).await;
    one.add("a", &["files"]).await;
    one.add("b", &["files"]).await;
    // Both have read the settings.
    other.record("a").await;
    one.record("a").await;
    let (first, second) = tokio::join!(one.set_members("a", &["b"]), other.set_members("b", &["a"]));
    assert!(first.is_ok() != second.is_ok(), "{first:?} {second:?}");
}

#[tokio::test]
async fn no_program_removes_a_repository_that_another_names_as_a_member() {
    let folder = tempfile::tempdir().unwrap();
    let [one, other] = two(&folder).await;
    one.add("files", &[]).await;
    one.add("others", &[]).await;
    one.add("all", &["others"]).await;
    // Both have read the settings.
    other.record("all").await;
    one.record("all").await;
    let mut event = Event::job("test", Millis(0));
    let (named, removed) = tokio::join!(
        one.set_members("all", &["files"]),
        other.repositories.remove("files", Some("files"), Author::SERVER, &mut event),
    );
    assert!(named.is_ok() != removed.is_ok(), "{named:?} {removed:?}");
}
