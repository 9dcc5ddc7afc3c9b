//! Trees of files on a store of their own, with a clock that the test sets.

use crate::actor::Actor;
use crate::author::ChangeSource;
use crate::content::Source;
use crate::context::Context;
use crate::error::unrestorable::Unrestorable;
use crate::error::{Error, Result};
use crate::format::Format;
use crate::maven::retention;
use crate::record::{RepositoryRecord, Retention};
use crate::repository::Repository;
use crate::repository::shared::Shared;
use crate::tree::deploy::Deployment;
use crate::tree::inventory::Inventory;
use crate::tree::{Tree, admit, deploy, fetch, remove, restore};
use crate::workers::Workers;
use bytes::Bytes;
use std::sync::Arc;
use store::{Batch, Change};
use store::{PoolOptions, RepositoryId, RepositoryKind, Store, StoreOptions, Threads};
use telemetry::{Bound, BoundName, Clock, Event, Millis, Op, PoolName, Recorder};
use tempfile::TempDir;

const DAY: i64 = 24 * 60 * 60 * 1_000;
const JAR: &str = "org/lamp/1.0/lamp-1.0.jar";
const POM: &str = "org/lamp/1.0/lamp-1.0.pom";

/// A POM of a plugin with this goal prefix.
macro_rules! plugin {
    ($prefix:literal) => {
        concat!(
            "<project><packaging>maven-plugin</packaging><artifactId>lamp</artifactId><build><plugins><plugin><artifactId>",
            "maven-plugin-plugin</artifactId><configuration><goalPrefix>",
            $prefix,
            "</goalPrefix></configuration></plugin></plugins></build></project>"
        )
        .as_bytes()
    };
}

struct Trial {
    context: Context,
    repository: Arc<Repository>,
    inventory: Inventory,
    _folder: TempDir,
}

impl Trial {
    async fn begin() -> Self {
        Self::of(Format::Maven).await
    }

    async fn of(format: Format) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (clock, mut event) = (Clock::at(Millis(DAY)), Event::job("test", Millis(0)));
        let recorder = Recorder::silent(clock.clone());
        let store =
            Store::open(StoreOptions { floor_bytes: 0, ..StoreOptions::new(folder.path(), clock, recorder.clone()) });
        let store = store.unwrap();
        let record = RepositoryRecord::new("trial", format.as_str(), RepositoryKind::Hosted, Millis(0));
        let change = Change::Repository { id: RepositoryId(0), record: record.stored().unwrap() };
        let batch = Batch {
            by: "test".into(),
            from: "cli".into(),
            at: Millis(0),
            expect: vec![],
            changes: vec![change],
            ..Batch::default()
        };
        let id = RepositoryId(store.commit(batch, &mut event).await.unwrap().0);
        let threads = Threads::Working("work");
        let options = PoolOptions {
            threads,
            pool: PoolName::WorkThreads,
            bound: BoundName::WorkThreads,
            capacity: 8,
            wait: Op::WorkWait,
        };
        let workers = Workers::start(options, &recorder, vec![()]).unwrap();
        let room = Bound::new(BoundName::Indexes, "indexes", 1);
        let shared = Arc::new(Shared::new(id, &room));
        let stored = Arc::new(record.stored().unwrap());
        let repository = Arc::new(Repository::new(id, record, stored, format, shared));
        let context = Context::new(store, Arc::new(workers), recorder);
        Self { context, repository, inventory: Inventory::new(1 << 20), _folder: folder }
    }

    fn tree(&self) -> Tree<'_> {
        Tree { store: &self.context.store, context: &self.context, repository: &self.repository }
    }

    async fn put(&self, path: &str, bytes: &'static [u8], day: i64) -> Result<bool> {
        let event = &mut Event::job("test", Millis(0));
        let mut staged = self.context.store.stage(event).await?;
        staged.write(Bytes::from_static(bytes), event).await?;
        let file = self.repository.file(path);
        let upload = Deployment { staged, claimed: None, conditions: None };
        let deployed = deploy::deploy(self.tree(), &file, upload, somebody(None), || Millis(day * DAY), event).await;
        deployed.map(|deployed| deployed.new)
    }

    async fn remove(&self, path: &str, day: i64) -> Result<u64> {
        let (file, event) = (self.repository.file(path), &mut Event::job("test", Millis(0)));
        remove::remove(self.tree(), &file, None, somebody(None), Millis(day * DAY), event).await
    }

    async fn restore(&self, path: &str, at: Millis) -> Result<u64> {
        restore::restore(self.tree(), path, somebody(None), at, &mut Event::job("test", Millis(0))).await
    }

    /// The answer; `None`: there is no such file.
    async fn get(&self, path: &str) -> Option<Bytes> {
        match fetch::fetch(
            self.tree(),
            &self.inventory,
            &self.repository.file(path),
            Millis(i64::MAX - 1),
            &mut Event::job("test", Millis(0)),
        )
        .await
        {
            Ok(content) => match content.source {
                Source::Memory(bytes) => Some(bytes),
                other => panic!("{other:?}"),
            },
            Err(Error::NoSuchFile(_) | Error::Removed(_)) => None,
            other => panic!("{other:?}"),
        }
    }

    async fn lists(&self, version: &str) -> bool {
        let metadata = self.get("org/lamp/maven-metadata.xml").await.unwrap_or_default();
        String::from_utf8_lossy(&metadata).contains(&format!("<version>{version}<"))
    }
}

fn somebody(only: Option<&str>) -> Actor<'_> {
    Actor { name: "somebody", from: ChangeSource::CommandLine, owner: "", only, admin: false }
}

#[tokio::test]
async fn a_removal_can_be_taken_back_for_seven_days() {
    let trial = Trial::begin().await;
    trial.put(JAR, b"jar", 1).await.unwrap();
    trial.put(POM, b"<project/>", 1).await.unwrap();
    let told = trial.get("org/lamp/maven-metadata.xml").await.unwrap();
    assert!(matches!(trial.restore("org", Millis(2 * DAY)).await, Err(Error::Unrestorable(Unrestorable::Nothing(_)))));

    assert!(matches!(trial.remove("org/lamp", 2).await, Ok(2)));
    assert!(!trial.lists("1.0").await && trial.get(JAR).await.is_none());
    assert!(matches!(
        trial.restore("org/lamp/1.1", Millis(3 * DAY)).await,
        Err(Error::Unrestorable(Unrestorable::Nothing(_)))
    ));
    assert!(matches!(
        trial.restore("org/lamp", Millis(9 * DAY + 1)).await,
        Err(Error::Unrestorable(Unrestorable::TooLate(_)))
    ));
    assert_eq!(trial.restore("org/lamp", Millis(9 * DAY)).await.unwrap(), 2);
    assert_eq!(trial.get(JAR).await.unwrap(), "jar");
    assert!(trial.lists("1.0").await && trial.get(POM).await.is_some());
    let again = trial.get("org/lamp/maven-metadata.xml").await.unwrap();
    assert_ne!(again, told, "it says when it last changed");
    assert!(matches!(
        trial.restore("org/lamp", Millis(9 * DAY)).await,
        Err(Error::Unrestorable(Unrestorable::Nothing(_)))
    ));
}

#[tokio::test]
async fn of_several_removals_the_last_is_taken_back_first() {
    let trial = Trial::begin().await;
    trial.put(JAR, b"jar", 1).await.unwrap();
    trial.put(POM, b"<project/>", 1).await.unwrap();
    trial.remove(JAR, 2).await.unwrap();
    trial.remove("org", 3).await.unwrap();
    assert_eq!(trial.restore("org", Millis(4 * DAY)).await.unwrap(), 1);
    assert!(trial.get(POM).await.is_some() && trial.get(JAR).await.is_none());
    assert_eq!(trial.restore("org", Millis(4 * DAY)).await.unwrap(), 1);
    assert_eq!(trial.get(JAR).await.unwrap(), "jar");
}

#[tokio::test]
async fn what_is_made_here_cannot_be_removed() {
    let trial = Trial::begin().await;
    trial.put(POM, b"<project/>", 1).await.unwrap();
    for made in ["org/lamp/maven-metadata.xml", "org/lamp/1.0/lamp-1.0.pom.sha1", "archetype-catalog.xml"] {
        assert!(matches!(trial.remove(made, 2).await, Err(Error::MadeHere(_))), "{made}");
    }
    assert!(matches!(trial.remove(JAR, 2).await, Err(Error::NoSuchFile(_))));
}

#[tokio::test]
async fn a_token_for_one_artifact_changes_what_is_below_its_folder() {
    let trial = Trial::begin().await;
    let may = |path: &str, only: &str| {
        admit::admit(&trial.repository, &trial.repository.file(path), somebody(Some(only))).is_ok()
    };
    assert!(may(JAR, "org:lamp") && may("org/lamp/maven-metadata.xml", "org:lamp"));
    assert!(may(JAR, "org") && may("org/example/lamp/1/lamp-1.jar", "org.example"));
    for only in ["org:lam", "org:lamp2", "or", "lamp", "com:lamp", "org.lam"] {
        assert!(!may(JAR, only), "{only}");
    }
    assert!(matches!(
        restore::restore(
            trial.tree(),
            "org",
            somebody(Some("org:lamp")),
            Millis(0),
            &mut Event::job("test", Millis(0))
        )
        .await,
        Err(Error::NotForToken { .. })
    ));
}

#[tokio::test]
async fn what_was_published_last_says_the_prefix_whatever_is_removed_of_what_came_before() {
    const OLDER: &str = "org/lamp/1-SNAPSHOT/lamp-1-20260101.120000-1.pom";
    const NEWER: &str = "org/lamp/1-SNAPSHOT/lamp-1-20260102.120000-2.pom";
    let trial = Trial::begin().await;
    trial.put(OLDER, plugin!("light"), 1).await.unwrap();
    trial.put(NEWER, plugin!("shine"), 2).await.unwrap();
    let says = async |prefix: &str| {
        let metadata = trial.get("org/maven-metadata.xml").await.unwrap_or_default();
        String::from_utf8_lossy(&metadata).contains(&format!("<prefix>{prefix}<"))
    };
    assert!(says("shine").await);
    trial.remove(OLDER, 3).await.unwrap();
    assert!(says("shine").await);
    trial.restore(OLDER, Millis(4 * DAY)).await.unwrap();
    assert!(says("shine").await);
    trial.remove("org/lamp", 5).await.unwrap();
    assert!(trial.get("org/maven-metadata.xml").await.is_none());
    trial.restore("org/lamp", Millis(6 * DAY)).await.unwrap();
    assert!(says("shine").await);
}

#[tokio::test]
async fn a_plugin_of_more_versions_than_are_changed_at_a_time_goes_and_comes_back_whole() {
    const MANY: u64 = 70;
    let trial = Trial::begin().await;
    for version in 0..MANY {
        let pom = b"<project><artifactId>lamp</artifactId><packaging>maven-plugin</packaging></project>";
        trial.put(&format!("org/lamp/{version}/lamp-{version}.pom"), pom, 1).await.unwrap();
    }
    let prefixes = async || trial.get("org/maven-metadata.xml").await.is_some();
    assert!(prefixes().await);
    assert!(matches!(trial.remove("org", 2).await, Ok(MANY)));
    assert!(!prefixes().await && !trial.lists("0").await && !trial.lists("69").await);
    assert_eq!(trial.restore("org", Millis(3 * DAY)).await.unwrap(), MANY);
    assert!(prefixes().await && trial.lists("0").await && trial.lists("69").await);
}

/// On some servers snapshots are pushed continuously, and each build starts a job.
#[tokio::test]
async fn a_new_build_prunes_its_snapshot_unless_too_many_jobs_do_that() {
    let mut trial = Trial::begin().await;
    let retention = Some(Retention { builds: Some(1), ..Retention::default() });
    let record = RepositoryRecord { retention, ..trial.repository.record.clone() };
    let Repository { id, stored, shared, .. } = &*trial.repository;
    trial.repository = Arc::new(Repository::new(*id, record, stored.clone(), Format::Maven, shared.clone()));
    let prunes = trial.context.prunes.clone();
    let all: Vec<_> = (0..prunes.capacity()).map(|_| prunes.enter().unwrap()).collect();
    retention::after_build(trial.tree(), "org/lamp/1-SNAPSHOT");
    assert_eq!((prunes.used(), prunes.rejected()), (prunes.capacity(), 1));
    drop(all);
    retention::after_build(trial.tree(), "org/lamp/1-SNAPSHOT");
    assert_eq!((prunes.used(), prunes.rejected()), (1, 1));
    while prunes.used() > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_file_that_was_stored_with_parameters_in_its_path_stays_readable_and_can_go() {
    let (trial, path) = (Trial::of(Format::Raw).await, "a;x=1/lamp.zip;build.number=7");
    // Earlier versions admitted it.
    trial.put(path, b"lamp", 1).await.unwrap();
    assert_eq!(trial.get(path).await.as_deref(), Some(&b"lamp"[..]));
    let refused = admit::admit(&trial.repository, &trial.repository.file(path), somebody(None)).unwrap_err();
    assert!(refused.hint().unwrap().contains("`a/lamp.zip`"), "{refused}");
    assert_eq!(trial.remove(path, 2).await.unwrap(), 1);
}
