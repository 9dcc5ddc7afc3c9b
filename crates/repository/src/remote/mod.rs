//! A repository that stands for an upstream: what is kept of it is answered while it is good, and the rest is fetched,
//! once however many ask.
//!
//! In reading order: [`fetch`] decides, [`ages`] says for how long what is kept is good, [`flights`] has one fetch of a
//! path at a time, [`landing`] is what such a fetch does.

mod ages;
mod claims;
mod failure;
mod fetch;
mod flights;
mod incoming;
mod kind;
mod landing;
mod promise;
mod upstreams;

pub use failure::Failure;
pub(crate) use fetch::fetch;

use crate::{BadSetting, References, Repository};
use client::{HostState, Hosts};
use flights::Flights;
use std::sync::Arc;
use store::{Held, Recalled, RemoteRecord, RepositoryId, Store};
use telemetry::{Event, Millis, Recorder};
use tokio::runtime::Handle;
use upstreams::Upstreams;

/// What all remote repositories share.
#[derive(Debug)]
pub(crate) struct Remotes {
    store: Arc<Store>,
    recorder: Arc<Recorder>,
    /// Where flights are: no client can end one.
    back: Handle,
    upstreams: Upstreams,
    flights: Flights,
}

/// A remote repository and what it works with.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    remotes: Arc<Remotes>,
    repository: Arc<Repository>,
}

/// A file that is kept.
#[derive(Debug, Clone)]
struct KeptFile {
    known: Arc<store::CachedFile>,
    held: Held,
}

/// What is remembered of a path.
enum Remembered {
    File(KeptFile),
    MissingUntil(Millis),
}

impl Remotes {
    /// Flights are on the runtime that this is called on.
    pub(crate) fn new(
        store: Arc<Store>,
        recorder: Arc<Recorder>,
        hosts: Arc<Hosts>,
        references: Arc<dyn References>,
    ) -> Arc<Self> {
        let flights = Flights::default();
        flights.bounds().into_iter().for_each(|bound| recorder.register(bound.clone()));
        let upstreams = Upstreams::new(hosts, references);
        Arc::new(Self { store, recorder, back: Handle::current(), upstreams, flights })
    }

    /// A repository of these.
    pub(crate) fn remote(self: &Arc<Self>, repository: &Arc<Repository>) -> Remote {
        Remote { remotes: self.clone(), repository: repository.clone() }
    }

    /// Refuses settings that no upstream can be made of: references that lead nowhere, and what is behind the others and
    /// cannot be used. It may read files.
    pub(crate) fn check(&self, record: &RemoteRecord) -> Result<(), BadSetting> {
        self.upstreams.check(record)
    }

    /// How the hosts that were called stand, and which repositories have theirs on each.
    pub(crate) fn states(&self) -> Vec<(HostState, Vec<RepositoryId>)> {
        self.upstreams.states()
    }
}

impl Remote {
    fn now(&self) -> Millis {
        self.remotes.recorder.clock().now()
    }

    async fn recall(&self, path: &str, event: &mut Event) -> Result<Option<Remembered>, store::Error> {
        let recalled = self.remotes.store.recall(self.repository.origin(), path, self.now(), event).await?;
        Ok(recalled.map(|recalled| match recalled {
            Recalled::File(known, held) => Remembered::File(KeptFile { known, held }),
            Recalled::MissingUntil(until) => Remembered::MissingUntil(until),
        }))
    }
}
