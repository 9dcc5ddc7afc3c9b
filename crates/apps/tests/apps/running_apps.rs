//! A front with applications that serves until it is dropped.

use crate::client::Client;
use crate::origin::Origin;
use apps::{AppOptions, Apps};
use front::{Limits, Listener, Options, Proxies, Site, Stop};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;
use telemetry::{Clock, Event, Recorder, RecorderOptions, Sink, Tick};

/// Longer than any step here takes: reaching it means that something hangs.
pub(crate) const HANGS: Duration = Duration::from_secs(20);

/// Passes events to the test.
struct EventSender(Sender<Event>);

impl Sink for EventSender {
    fn name(&self) -> &'static str {
        "pass"
    }

    fn write(&mut self, events: &[Event]) -> std::io::Result<()> {
        for event in events {
            let _ = self.0.send(event.clone());
        }
        Ok(())
    }
}

/// A front with applications that serves until it is dropped.
pub(crate) struct RunningApps {
    pub(crate) address: SocketAddr,
    pub(crate) apps: Arc<Apps>,
    pub(crate) recorder: Arc<Recorder>,
    stop: Stop,
    events: Mutex<Receiver<Event>>,
    serving: Option<JoinHandle<()>>,
    _spool: tempfile::TempDir,
}

/// The options of an application `shop` with one backend.
pub(crate) fn shop(origin: &Origin) -> AppOptions {
    AppOptions { to: vec![origin.url()], cache_bytes: 0, ..AppOptions::of("shop") }
}

impl RunningApps {
    /// One application in front of an origin, with the usual options.
    pub(crate) fn before(origin: &Origin) -> Self {
        Self::of(vec![shop(origin)])
    }

    pub(crate) fn of(options: Vec<AppOptions>) -> Self {
        Self::with(options, Proxies::default(), Limits::default())
    }

    pub(crate) fn with(mut options: Vec<AppOptions>, proxies: Proxies, limits: Limits) -> Self {
        let (pass, events) = channel();
        let records = RecorderOptions { shards: 2, ..RecorderOptions::of(Clock::default()) };
        let recorder = Recorder::start(records, vec![Box::new(EventSender(pass))]);
        let spool = tempfile::tempdir().unwrap();
        options.iter_mut().for_each(|app| app.spool_folder = spool.path().to_owned());
        let apps = Apps::new(options, &proxies, &recorder).unwrap();
        let listener = Listener::bind(([127, 0, 0, 1], 0).into()).unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), Stop::default());
        let options = Options { cores: 2, file_threads: 4, limits, proxies, shutdown_timeout: HANGS, sendfile: true };
        let serving = {
            let (recorder, stop, handler) = (recorder.clone(), stop.clone(), apps.clone());
            let site = Site { listener, handler, tls: None };
            std::thread::spawn(move || front::run(vec![site], options, recorder, stop).unwrap())
        };
        Self { address, apps, recorder, stop, events: Mutex::new(events), serving: Some(serving), _spool: spool }
    }

    pub(crate) fn client(&self) -> Client {
        #[expect(clippy::disallowed_methods, reason = "a test is a client")]
        let stream = TcpStream::connect(self.address).unwrap();
        Client::over(stream)
    }

    /// The next event that was released.
    pub(crate) fn event(&self) -> Event {
        let events = self.events.lock().unwrap();
        let began = Tick::now();
        loop {
            // The recorder passes events on four times a second: a flush is quicker.
            assert!(self.recorder.flush(HANGS));
            match events.try_recv() {
                Ok(event) => return event,
                Err(_) => assert!(Tick::now().since(began) < HANGS.as_nanos() as u64, "no event was released"),
            }
        }
    }

    /// Waits until `holds` is true of the application.
    pub(crate) fn until(&self, what: &str, holds: impl Fn(&apps::AppView) -> bool) {
        let began = Tick::now();
        while !holds(&self.apps.view()[0]) {
            assert!(Tick::now().since(began) < HANGS.as_nanos() as u64, "{what}: {:?}", self.apps.view());
            std::thread::yield_now();
        }
    }

    /// How many requests the backends work on.
    pub(crate) fn busy(&self) -> u64 {
        self.apps.view()[0].lanes.iter().map(|lane| lane.busy).sum()
    }

    pub(crate) fn spool(&self) -> &Path {
        self._spool.path()
    }
}

impl Drop for RunningApps {
    fn drop(&mut self) {
        self.apps.end_streams();
        self.stop.now();
        let ended = self.serving.take().unwrap().join();
        self.recorder.stop(HANGS);
        if !std::thread::panicking() {
            ended.unwrap();
            let view = &self.apps.view()[0];
            assert_eq!((view.spool_bytes, view.streams, self.busy()), (0, 0, 0), "something was not given back");
        }
    }
}
