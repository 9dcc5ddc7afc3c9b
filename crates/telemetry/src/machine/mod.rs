//! The state of the machine: limits of cgroups, pressure, accept queues, threads without a processor, and a slow disk.
//!
//! A thread reads it every ten seconds. Requests for metrics get the last sample and wait for nothing.

mod accept_queue;
mod cgroup;
mod cgroup_cpu;
mod cgroup_memory;
mod disk_probe;
mod kernel_text;
mod pressure;
pub(crate) mod process;
pub(crate) mod process_memory;
mod sample;
mod system;
mod threads;

use crate::histogram::durations::Durations;
use crate::lock;
use crate::{Bound, BoundName, Tick, background};
use accept_queue::Diagnostics;
use cgroup::Cgroups;
pub use cgroup_cpu::CgroupCpu;
pub use cgroup_memory::CgroupMemory;
use disk_probe::DiskProbe;
pub use pressure::{Pressure, Pressures, Stall};
pub use sample::MachineSample;
use sample::Sampler;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;
pub use system::System;
pub use threads::ThreadFigures;

/// The interval between two samples.
const EVERY: Duration = Duration::from_secs(10);

/// Watches the machine. [`MachineMonitor::watch`] starts its threads, which end when it is dropped.
#[derive(Debug, Default)]
pub struct MachineMonitor {
    shared: Arc<Shared>,
    /// Wake the threads.
    wake: Mutex<Vec<Sender<()>>>,
}

/// The figures that the threads write.
#[derive(Debug, Default)]
struct Shared {
    latest: Mutex<Option<(Tick, Arc<MachineSample>)>>,
    disk: DiskProbe,
    queues: Mutex<Queues>,
}

#[derive(Debug, Default)]
struct Queues {
    diagnostics: Option<Diagnostics>,
    /// The inodes of the listening sockets, with the bounds that show their queues.
    listening: Vec<(u64, Arc<Bound>)>,
}

impl MachineMonitor {
    /// Starts to read the state of the machine and to ask the disk of the data folder. Without threads there are no figures.
    pub fn watch(&self, data: PathBuf) {
        let mut sampler = Sampler::default();
        self.repeat("machine", move |shared| {
            // Without a descriptor the last sample stays, and its age shows that.
            if let Some(sample) = sampler.read(Path::new("/")) {
                *lock(&shared.latest) = Some((Tick::now(), Arc::new(sample)));
            }
            lock(&shared.queues).read();
        });
        // A thread of its own: the disk may hang.
        self.repeat("disk-probe", move |shared| shared.disk.ask(&data));
    }

    /// Does `work` on a thread of this name, now, every ten seconds, and when woken.
    fn repeat(&self, name: &str, mut work: impl FnMut(&Shared) + Send + 'static) {
        let (wake, woken) = channel();
        lock(&self.wake).push(wake);
        let shared = self.shared.clone();
        // Without the thread its figures are absent.
        let _ = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
            background();
            work(&shared);
            while next(&woken) {
                work(&shared);
            }
        });
    }

    /// Watches the accept queue of a listening socket. Returns the bound that shows it. `None`: the kernel does not tell of it.
    pub fn listens(&self, socket: impl AsFd, address: SocketAddr) -> Option<Arc<Bound>> {
        let bound = Bound::new(BoundName::AcceptQueue, &address.to_string(), 0);
        let mut queues = lock(&self.shared.queues);
        if queues.diagnostics.is_none() {
            queues.diagnostics = Diagnostics::open();
        }
        queues.listening.push((inode_of(socket)?, bound.clone()));
        queues.read();
        if bound.capacity() == 0 {
            queues.listening.pop();
            return None;
        }
        Some(bound)
    }

    /// Takes a sample soon. Tests do not wait for ten seconds.
    pub fn wake(&self) {
        for wake in lock(&self.wake).iter() {
            // A thread that could not be started has no receiver.
            let _ = wake.send(());
        }
    }

    /// The last sample. `None`: there is none yet.
    pub fn sample(&self) -> Option<Arc<MachineSample>> {
        lock(&self.shared.latest).as_ref().map(|(_, sample)| sample.clone())
    }

    /// The age of the last sample, in nanoseconds.
    pub(crate) fn age(&self) -> Option<u64> {
        lock(&self.shared.latest).as_ref().map(|(at, _)| Tick::now().since(*at))
    }

    /// The requests to the disk of the data folder that have ended, the sum of their durations in nanoseconds, and nanoseconds since the one
    /// under way began; 0: none is under way.
    pub fn disk_probes(&self) -> (u64, u64, u64) {
        let (ended, under_way) = self.shared.disk.figures();
        (ended.histogram().count(), ended.histogram().sum(), under_way)
    }

    /// The durations of requests to the disk, and nanoseconds since the one under way began.
    pub(crate) fn disk(&self) -> (Durations, u64) {
        self.shared.disk.figures()
    }
}

/// The smallest limit of memory of the cgroups that this process is in. `root` is `/` outside of tests.
pub fn cgroup_memory_limit(root: &Path) -> Option<u64> {
    let mut cgroups = Cgroups::default();
    cgroups.refresh(root);
    cgroup_memory::limit(&cgroups.memory?)
}

/// Waits for the next time to work. `false`: the monitor was dropped.
fn next(woken: &Receiver<()>) -> bool {
    let woke = woken.recv_timeout(EVERY) != Err(RecvTimeoutError::Disconnected);
    // Several calls make one sample.
    while woken.try_recv().is_ok() {}
    woke
}

impl Queues {
    fn read(&self) {
        let sockets = self.diagnostics.as_ref().and_then(Diagnostics::listening).unwrap_or_default();
        for (inode, bound) in &self.listening {
            if let Some(socket) = sockets.iter().find(|socket| socket.inode == *inode) {
                bound.set_capacity(socket.limit);
                bound.observe(socket.used);
            }
        }
    }
}

/// The inode of an open socket, which is its name in socket diagnostics.
fn inode_of(socket: impl AsFd) -> Option<u64> {
    rustix::fs::fstat(socket).ok().map(|about| about.st_ino)
}

#[cfg(test)]
pub(crate) mod tests;
