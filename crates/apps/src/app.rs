//! One application: its backends, its lanes, its stored responses, its pages and its spool.

use crate::backends::Backends;
use crate::cache::Cache;
use crate::lanes::Lanes;
use crate::options::{AppOptions, BadApp};
use crate::pages::Pages;
use crate::sendfile::Roots;
use crate::spool::Spool;
use crate::streams::Streams;
use crate::view::AppView;
use front::Proxies;
use std::sync::Arc;
use telemetry::{Bound, BoundName, Recorder, Text};

/// An application.
#[derive(Debug)]
pub(crate) struct App {
    /// Its settings.
    pub(crate) options: AppOptions,
    /// Its name, for events.
    pub(crate) name: Text,
    /// The proxies that may tell of the client.
    pub(crate) proxies: Arc<Proxies>,
    pub(crate) recorder: Arc<Recorder>,
    pub(crate) backends: Arc<Backends>,
    pub(crate) lanes: Lanes,
    pub(crate) cache: Cache,
    /// `None`: it writes none.
    pub(crate) pages: Option<Box<Pages>>,
    pub(crate) spool: Spool,
    pub(crate) streams: Streams,
    /// Requests in the background, which leave slots to clients.
    pub(crate) background: Arc<Bound>,
    /// The folders whose files it may have sent.
    pub(crate) roots: Roots,
}

impl App {
    /// An application with these settings. Its bounds are registered at `recorder`.
    pub(crate) fn new(
        options: AppOptions,
        proxies: Arc<Proxies>,
        recorder: &Arc<Recorder>,
    ) -> Result<Arc<Self>, BadApp> {
        options.check()?;
        let background = Bound::new(BoundName::AppBackground, &options.name, (options.slots as u64 / 4).max(1));
        recorder.register(background.clone());
        let name: Text = options.name.as_str().into();
        Ok(Arc::new(Self {
            proxies,
            recorder: recorder.clone(),
            backends: Backends::new(&options, recorder)?,
            lanes: Lanes::new(&options, recorder)?,
            cache: Cache::new(&options, recorder),
            pages: Pages::new(&name, &options, recorder)?,
            spool: Spool::new(&options, recorder),
            streams: Streams::new(&options, recorder),
            background,
            roots: Roots::new(&options)?,
            name,
            options,
        }))
    }

    /// Its state, for operators.
    pub(crate) fn view(&self) -> AppView {
        AppView {
            name: self.options.name.clone(),
            hosts: self.options.hosts.clone(),
            starting: self.backends.is_starting(),
            slots: self.options.slots,
            lanes: self.lanes.view(),
            backends: self.backends.view(),
            streams: self.streams.bound().used(),
            spool_bytes: self.spool.bound().used(),
            spool_max_bytes: self.spool.bound().capacity(),
            cache: (self.options.cache_bytes > 0).then(|| self.cache.view()),
            pages: self.pages.as_ref().map(|pages| pages.view()),
        }
    }
}
