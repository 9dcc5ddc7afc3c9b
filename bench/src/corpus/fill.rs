//! Writes a corpus into a data folder: `daylight init`, then commits of the store with many gems each.

use super::{Corpus, gem};
use crate::gem::Gem;
use crate::process::{TOKEN, beside};
use anyhow::{Context, Result, ensure};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::Instant;
use store::{Batch, Change, Entry, Hashes, RepositoryId, Store, StoreOptions};
use telemetry::{Clock, Event, Millis, Recorder, RecorderOptions};

/// The repository that is filled.
pub(crate) const REPOSITORY: &str = "gems-private";
/// The approximate number of versions in a commit.
const BATCH: usize = 5000;

/// Makes the folder, which must not exist yet. Returns the number of versions in it.
pub(super) fn folder(folder: &Path, corpus: &Corpus) -> Result<usize> {
    ensure!(!folder.exists(), "`{}` already exists\nhint: remove it, or name another", folder.display());
    let mut init = Command::new(beside("daylight")?);
    init.arg("init").arg("--data").arg(folder).env_clear().env("DAYLIGHT_ADMIN_TOKEN", TOKEN);
    let said = init.output().context("running `daylight init`")?;
    ensure!(said.status.success(), "{}", String::from_utf8_lossy(&said.stderr));

    let clock = Clock::default();
    let options = RecorderOptions::of(clock.clone());
    let recorder = Recorder::start(options, Vec::new());
    let store = Store::open(StoreOptions::new(folder, clock, recorder))?;
    let versions = fill(&store, corpus);
    store.close();
    versions
}

fn fill(store: &Arc<Store>, corpus: &Corpus) -> Result<usize> {
    let mut event = Event::job("corpus", Clock::default().now());
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let all = runtime.block_on(store.repositories(&mut event))?;
    let found = all.iter().find(|(_, record)| record.name == REPOSITORY);
    let (id, _) = found.context("`daylight init` made no repository")?;
    let hashes = runtime.block_on(keep(store, Gem::new("lamp", "1.0.0").bytes(), &mut event))?;

    let mut done = Progress { began: Instant::now(), gems: 0, versions: 0, of: corpus.names.len() };
    std::thread::scope(|scope| {
        for made in make(scope, corpus, hashes) {
            let (gems, entries) = made?;
            done.gems += gems;
            done.versions += entries.len();
            runtime.block_on(store.commit(batch(*id, store.now(), entries), &mut event))?;
            done.tell();
        }
        anyhow::Ok(())
    })?;
    runtime.block_on(store.ship_now(&mut event))?;
    eprintln!();
    println!("generated and shipped in {:.0} s", done.began.elapsed().as_secs_f64());
    Ok(done.versions)
}

/// The same bytes for all versions of all gems: an index needs no more.
async fn keep(store: &Arc<Store>, bytes: Vec<u8>, event: &mut Event) -> Result<Hashes> {
    let mut staged = store.stage(event).await?;
    staged.write(bytes.into(), event).await?;
    Ok(store.keep(staged, event).await?.hashes)
}

type Made = Result<(usize, Vec<Entry>)>;

/// Generates gems on a thread of its own, a little ahead of the disk.
fn make<'scope>(
    scope: &'scope std::thread::Scope<'scope, '_>,
    corpus: &'scope Corpus,
    hashes: Hashes,
) -> Receiver<Made> {
    let (sender, batches) = sync_channel(2);
    scope.spawn(move || {
        let (mut gems, mut entries) = (0, Vec::new());
        for place in 0..corpus.names.len() {
            match gem::entries(corpus, place, &hashes) {
                Ok(more) => entries.extend(more),
                Err(error) => return sender.send(Err(error)).is_ok(),
            }
            gems += 1;
            if entries.len() >= BATCH
                && sender.send(Ok((std::mem::take(&mut gems), std::mem::take(&mut entries)))).is_err()
            {
                return false;
            }
        }
        sender.send(Ok((gems, entries))).is_ok()
    });
    batches
}

/// The change is made now, although the versions are older: moments of the journal never decrease.
fn batch(repository: RepositoryId, at: Millis, entries: Vec<Entry>) -> Batch {
    let changes = entries.into_iter().map(|entry| Change::Entry { repository, entry });
    Batch {
        by: "daylight".to_owned(),
        from: "cli".to_owned(),
        at,
        expect: Vec::new(),
        changes: changes.collect(),
        holds: Vec::new(),
        authors: Vec::new(),
    }
}

/// The progress, on one line of standard error.
struct Progress {
    began: Instant,
    gems: usize,
    versions: usize,
    of: usize,
}

impl Progress {
    fn tell(&self) {
        let Self { began, gems, versions, of } = self;
        let elapsed = began.elapsed().as_secs_f64();
        let left = elapsed * (of - gems) as f64 / (*gems).max(1) as f64;
        eprint!("\r{gems} of {of} gems, {versions} versions, {elapsed:.0} s, {left:.0} s left   ");
    }
}
