//! Object storage, for the verbs that work on a data folder without a server.

use crate::config::Settings;
use crate::instance::objects;
use anyhow::Context as _;
use store::Objects;
use telemetry::{Clock, Recorder};
use tokio::runtime::{Builder, Runtime};

/// The object storage of the settings, with the runtime of its client.
pub(super) struct StoredObjects(Option<(Objects, Runtime)>);

impl StoredObjects {
    /// Makes the client. No call is made yet.
    pub(super) fn of(settings: &Settings) -> anyhow::Result<Self> {
        if settings.store.objects.0.is_none() {
            return Ok(Self(None));
        }
        let runtime =
            Builder::new_multi_thread().worker_threads(1).enable_all().build().context("cannot start a thread")?;
        let objects = objects::of(settings, &Recorder::silent(Clock::default()), runtime.handle())?;
        Ok(Self(objects.map(|objects| (objects, runtime))))
    }

    /// `None`: the disk keeps all bytes.
    pub(super) fn get(&self) -> Option<&Objects> {
        self.0.as_ref().map(|(objects, _)| objects)
    }
}
