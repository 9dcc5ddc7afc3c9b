//! Divides a budget of memory and one of descriptors among everything that can fill up, so that all bounds together stay within it.

use super::machine::Machine;
use std::borrow::Cow;
use std::net::SocketAddr;
use std::path::PathBuf;

/// Half of the memory is for us. The other half is for the page cache of the kernel, with files that are sent often.
const BUDGET_PART: u64 = 2;
/// The program, its threads' stacks, and the 2^20 counters of revisions.
pub(super) const FIXED_BYTES: u64 = 32 << 20;
/// The least memory that is divided, on however small a machine.
const DIVIDED_MIN_BYTES: u64 = 32 << 20;
/// An open connection: its buffers and its task. 21 KiB when idle, 60 KiB with the better part of a head.
pub(super) const CONNECTION_BYTES: u64 = 64 << 10;
/// An upload under way: bytes that are not on disk yet.
pub(super) const UPLOAD_BYTES: u64 = 256 << 10;
/// The longest form.
pub(crate) const FORM_BYTES: u64 = 16 << 10;
/// The longest small body: a hook, or the JSON of a call of the API.
pub(crate) const SMALL_BODY_BYTES: u64 = 64 << 10;
/// A buffer for a part of a file on its way to a client.
pub(super) const FILE_BUFFER_BYTES: u64 = 64 << 10;
/// The stack and the statements of a reader thread of the truth database.
pub(super) const READER_FIXED_BYTES: u64 = 1 << 20;
/// The least and the most memory that a reader has for pages of the database.
const READER_CACHE_MIN_BYTES: u64 = 1 << 20;
const READER_CACHE_MAX_BYTES: u64 = 3 << 20;
/// The most memory of four small caches together, and their part of the budget on a small machine.
const SMALL_MAX_BYTES: u64 = 40 << 20;
const SMALL_PART: u64 = 16;
/// The queue of a listener to live events, and what its connection holds of it until the client reads it: HTTP/1.1 takes pieces up to 400 KiB.
pub(super) const TAIL_BYTES: u64 = insight::Tail::QUEUE_BYTES + (512 << 10);
/// An event that waits for the sinks.
pub(super) const EVENT_BYTES: u64 = 2 << 10;
/// Some 9,000 events: people ask for events of the last minutes, and the files have the older ones.
const RECENT_MAX_BYTES: u64 = 8 << 20;
/// The rows of a segment, and the rows that come while it is written.
const KEEP_MEMORY_MAX_BYTES: u64 = 48 << 20;
const KEEP_PART: u64 = 32;
/// The tables of questions, and the columns of a file that is being read.
const ASK_MEMORY_MAX_BYTES: u64 = 64 << 20;
const ASK_PART: u64 = 16;
/// Live events that wait for listeners.
const TAILS_MAX: u64 = 8;
const TAILS_PART: u64 = 64;
/// The most disk for kept events: some 35 million of them.
const KEEP_MAX_BYTES: u64 = 2 << 30;
/// The disk for kept events where the size of the disk is unknown.
const KEEP_UNKNOWN_BYTES: u64 = 256 << 20;
/// Descriptors of databases, logs, listening sockets and everything else that is always open, and of reserved connections.
const FIXED_DESCRIPTORS: u64 = 128 + front::RESERVED as u64;

/// The most memory for the stored responses of an application.
const APP_CACHE_MAX_BYTES: u64 = 64 << 20;
/// The most disk for the spool of an application, and its part of the disk.
const APP_SPOOL_MAX_BYTES: u64 = 1 << 30;
const APP_SPOOL_PART: u64 = 10;
/// The most memory for complete answers where only the admin side has them.
const FRONT_PAGES_MAX_BYTES: u64 = 4 << 20;

/// The least disk for cached files.
const CACHED_MIN_BYTES: u64 = 64 << 20;
/// The disk for cached files where the size of the disk is unknown.
const CACHED_UNKNOWN_BYTES: u64 = 8 << 30;

/// Descriptors of a connection: its socket, and the file that is sent or received.
pub(super) const CONNECTION_DESCRIPTORS: u64 = 2;

/// There are three lanes of reads (entries, changes, indexes). One may occupy a reader for each core, and the other two can still start.
const SPARE_READERS: usize = 2;

/// The defaults of this machine, each with its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shares {
    machine: Machine,
    /// Whether they are for `daylight front`.
    front: bool,
    /// The bytes of the small caches.
    small: u64,
    /// The bytes of the newest events.
    kept: u64,
    /// The bytes of questions about events.
    asks: u64,
    /// The listeners to live events.
    tails: u64,
    divided: u64,
}

/// A value and the reason for it.
type Derived<T> = (T, Cow<'static, str>);

impl Shares {
    /// The defaults of `machine`.
    pub fn of(machine: &Machine) -> Self {
        let budget = Self::budget(machine);
        let small = (budget / SMALL_PART).min(SMALL_MAX_BYTES);
        let kept = (budget / KEEP_PART).min(KEEP_MEMORY_MAX_BYTES);
        let asks = (budget / ASK_PART).min(ASK_MEMORY_MAX_BYTES);
        let tails = (budget / TAILS_PART / TAIL_BYTES).clamp(1, TAILS_MAX);
        let divided = budget - FIXED_BYTES - small - kept - asks - tails * TAIL_BYTES;
        Self { machine: *machine, front: false, small, kept, asks, tails, divided }
    }

    /// The same for `daylight front`: its applications have the memory for complete answers, and its data and its admin side are elsewhere.
    pub(super) fn of_front(machine: &Machine) -> Self {
        Self { front: true, ..Self::of(machine) }
    }

    /// The memory of all bounds together, in bytes.
    pub(super) fn budget(machine: &Machine) -> u64 {
        (machine.memory_bytes / BUDGET_PART).max(FIXED_BYTES + DIVIDED_MIN_BYTES)
    }

    /// Descriptors that do not belong to connections. The database of a reader has three files.
    pub(super) fn fixed_descriptors(readers: usize) -> u64 {
        FIXED_DESCRIPTORS.saturating_add((readers as u64).saturating_mul(3))
    }

    fn part(&self, sixteenths: u64) -> u64 {
        self.divided / 16 * sixteenths
    }

    pub(super) fn cores(&self) -> Derived<usize> {
        (self.machine.cores.clamp(1, 1024), "one for each core that this process may use".into())
    }

    pub(super) fn listen(&self) -> Derived<SocketAddr> {
        match self.front {
            true => (([127, 0, 0, 1], 8081).into(), "the admin side of `daylight front`, for this machine only".into()),
            false => (([127, 0, 0, 1], 8080).into(), "only this machine can connect".into()),
        }
    }

    pub(super) fn data(&self) -> Derived<PathBuf> {
        let folder = if self.front { "./daylight-front" } else { "./daylight-data" };
        (folder.into(), "below the folder that you start the server in".into())
    }

    /// Memory for the stored responses of one of `all` applications.
    pub(super) fn app_cache_bytes(&self, all: usize) -> u64 {
        (self.part(13) / 4 / all.max(1) as u64).min(APP_CACHE_MAX_BYTES)
    }

    /// Disk for the uploads and responses of an application that wait for their reader.
    pub(super) fn app_spool_bytes(&self) -> u64 {
        self.machine.disk_bytes.map_or(APP_SPOOL_MAX_BYTES, |disk| (disk / APP_SPOOL_PART).min(APP_SPOOL_MAX_BYTES))
    }

    pub(super) fn pages_bytes(&self) -> Derived<u64> {
        if self.front {
            let bytes = (self.part(1) / 4).min(FRONT_PAGES_MAX_BYTES);
            return (bytes, "only the admin side has such answers; applications have caches of their own".into());
        }
        (self.part(13) / 4, self.of_memory("13/64", ""))
    }

    pub(super) fn indexes_bytes(&self) -> Derived<u64> {
        (self.part(2), self.of_memory("2/16", ""))
    }

    pub(super) fn dependencies_bytes(&self) -> Derived<u64> {
        (self.part(1), self.of_memory("1/16", ""))
    }

    pub(super) fn views_bytes(&self) -> Derived<u64> {
        (self.part(1) / 2, self.of_memory("1/32", ""))
    }

    pub(super) fn folders_bytes(&self) -> Derived<u64> {
        (self.small / 10, "1/160 of the memory budget, at most 4 MiB".into())
    }

    pub(super) fn pushed_gems_bytes(&self) -> Derived<u64> {
        (self.small / 10, "1/160 of the memory budget, at most 4 MiB: about 10,000 gems".into())
    }

    pub(super) fn known_folders_bytes(&self) -> Derived<u64> {
        (self.small / 10 * 4, "1/40 of the memory budget, at most 16 MiB: about 60,000 folders".into())
    }

    pub(super) fn prefixes_bytes(&self) -> Derived<u64> {
        (self.small / 10 * 4, "1/40 of the memory budget, at most 16 MiB: lists of about 100 upstreams".into())
    }

    pub(super) fn workers(&self) -> Derived<usize> {
        let cores = self.cores().0;
        (
            cores.saturating_add(SPARE_READERS).min(256),
            "one for each core, and two more, so that no kind of work waits for another".into(),
        )
    }

    pub(super) fn reader_cache_bytes(&self) -> Derived<u64> {
        let each = (self.part(2) / self.readers().0 as u64).saturating_sub(READER_FIXED_BYTES);
        let bytes = each.clamp(READER_CACHE_MIN_BYTES, READER_CACHE_MAX_BYTES);
        (bytes, "2/16 of the memory budget for all readers, at most 3 MiB each".into())
    }

    pub(super) fn max_connections(&self) -> Derived<u64> {
        let by_memory = self.part(4) / CONNECTION_BYTES;
        // An upload's file is opened a second time to be read.
        let fixed = Self::fixed_descriptors(self.readers().0)
            + self.max_uploads().0
            + self.open_files().0
            + self.page_files().0;
        let by_descriptors = self.machine.descriptors.saturating_sub(fixed) / CONNECTION_DESCRIPTORS;
        if by_memory <= by_descriptors {
            return (by_memory.clamp(16, 100_000), self.of_memory("4/16", ", 64 KiB each"));
        }
        let reason = format!("{} file descriptors, two for each: a socket and a file", self.machine.descriptors);
        (by_descriptors.clamp(16, 100_000), reason.into())
    }

    pub(super) fn max_connections_per_client(&self) -> Derived<u64> {
        (
            self.max_connections().0 / 2,
            "half of all: a team may share one address, and other clients still get through".into(),
        )
    }

    pub(super) fn max_uploads(&self) -> Derived<u64> {
        // No more than connections, of which each has two descriptors.
        let most = (self.machine.descriptors / 16).clamp(4, 256);
        let reason = self.of_memory("1/16", ", 256 KiB each, at most 256 and one for 16 file descriptors");
        ((self.part(1) / UPLOAD_BYTES).clamp(4, most), reason)
    }

    pub(super) fn file_buffers(&self) -> Derived<u64> {
        let fit = self.part(1) / FILE_BUFFER_BYTES;
        (fit.clamp(16, 1024), self.of_memory("1/16", ", 64 KiB each, at most 1024"))
    }

    pub(super) fn open_files(&self) -> Derived<u64> {
        let reason = format!("1/16 of {} file descriptors, at most 4096", self.machine.descriptors);
        ((self.machine.descriptors / 16).clamp(16, 4096), reason.into())
    }

    pub(super) fn page_files(&self) -> Derived<u64> {
        let reason = format!("1/64 of {} file descriptors, at most 1024", self.machine.descriptors);
        ((self.machine.descriptors / 64).clamp(4, 1024), reason.into())
    }

    pub(super) fn max_downloads(&self) -> Derived<u64> {
        (self.per_core(512), "512 for each core: about what a core looks up in 100 ms".into())
    }

    pub(super) fn max_waiting(&self) -> Derived<u64> {
        (self.per_core(2048), "2048 for each core: a waiting request occupies little more than its connection".into())
    }

    pub(super) fn max_indexes(&self) -> Derived<u64> {
        (self.per_core(128), "128 for each core: a build requests one for each of its own cores at once".into())
    }

    pub(super) fn max_pages(&self) -> Derived<u64> {
        (self.per_core(1024), "1024 for each core: these answers take little time".into())
    }

    pub(super) fn max_admin(&self) -> Derived<u64> {
        (self.per_core(32), "32 for each core: people and scripts send few requests".into())
    }

    pub(super) fn max_web(&self) -> Derived<u64> {
        (self.per_core(16), "16 for each core: people open few pages at once, and a page may read many rows".into())
    }

    pub(super) fn max_accounts(&self) -> Derived<u64> {
        (self.per_core(32), "32 for each core: people sign in rarely".into())
    }

    pub(super) fn max_forms(&self) -> Derived<u64> {
        let fit = self.part(1) / 4 / SMALL_BODY_BYTES;
        (fit.clamp(16, 1024), self.of_memory("1/64", ", 64 KiB each, at most 1024"))
    }

    fn per_core(&self, count: u64) -> u64 {
        count * self.cores().0 as u64
    }

    pub(super) fn readers(&self) -> Derived<usize> {
        let fit = self.part(2) / (READER_FIXED_BYTES + READER_CACHE_MIN_BYTES);
        let fit = usize::try_from(fit).unwrap_or(usize::MAX);
        let readers = (self.machine.cores.clamp(1, 16) + SPARE_READERS).min(fit).max(1);
        (readers, "one for each core, at most 16, and two more, so that no kind of query waits for another; 2 to 4 MiB each, within 2/16 of the memory budget".into())
    }

    pub(super) fn cached_bytes(&self) -> Derived<u64> {
        match self.machine.disk_bytes {
            Some(disk) => {
                let reason = format!("half of the file system of the data folder, which has {} MiB", disk >> 20);
                ((disk / 2).max(CACHED_MIN_BYTES), reason.into())
            }
            None => (CACHED_UNKNOWN_BYTES, "the size of the file system is unknown".into()),
        }
    }

    pub(super) fn events_buffered(&self) -> Derived<u64> {
        let fit = self.part(1) / 2 / EVENT_BYTES;
        (fit.clamp(256, 65_536), self.of_memory("1/32", ", 2 KiB each, at most 65536"))
    }

    pub(super) fn events_recent_bytes(&self) -> Derived<u64> {
        ((self.part(1) / 2).min(RECENT_MAX_BYTES), self.of_memory("1/32", ", at most 8 MiB"))
    }

    pub(super) fn keep_bytes(&self) -> Derived<u64> {
        match self.machine.disk_bytes {
            Some(disk) => {
                let reason =
                    format!("1/50 of the file system of the data folder, which has {} MiB; at most 2 GiB", disk >> 20);
                ((disk / 50).min(KEEP_MAX_BYTES), reason.into())
            }
            None => (KEEP_UNKNOWN_BYTES, "the size of the file system is unknown".into()),
        }
    }

    pub(super) fn keep_memory_bytes(&self) -> Derived<u64> {
        (self.kept, "1/32 of the memory budget, at most 48 MiB".into())
    }

    pub(super) fn ask_memory_bytes(&self) -> Derived<u64> {
        (self.asks, "1/16 of the memory budget, at most 64 MiB".into())
    }

    pub(super) fn max_tails(&self) -> Derived<u64> {
        (
            self.tails,
            "1/64 of the memory budget, 1 MiB each, at most 8: people who look for the cause of a problem are few"
                .into(),
        )
    }

    fn of_memory(&self, part: &str, each: &str) -> Cow<'static, str> {
        let (divided, memory) = (self.divided >> 20, self.machine.memory_bytes >> 20);
        format!("{part} of the memory budget of {divided} MiB{each}; the machine has {memory} MiB").into()
    }
}
