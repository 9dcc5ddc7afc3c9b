//! Tests of the monitor, and files of a kernel that other tests make up.

use super::cgroup::Levels;
use super::*;

/// Writes a file, and makes its folder.
#[expect(clippy::disallowed_methods, reason = "a test's own folder")]
pub(crate) fn put(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A folder with these files, and the paths of these folders in it.
pub(super) fn folders(levels: &[&str], files: &[(&str, &str)]) -> (tempfile::TempDir, Levels) {
    let root = tempfile::tempdir().unwrap();
    files.iter().for_each(|(path, text)| put(&root.path().join(path), text));
    let levels = levels.iter().map(|level| root.path().join(level)).collect();
    (root, levels)
}

#[test]
fn there_is_a_sample_soon_and_another_when_woken_and_none_after_the_end() {
    let monitor = MachineMonitor::default();
    assert!(monitor.sample().is_none() && monitor.age().is_none());
    monitor.watch(PathBuf::from("/"));
    let next_after = |before: Option<Arc<MachineSample>>| loop {
        std::thread::yield_now();
        let now = monitor.sample();
        let same = match (&before, &now) {
            (Some(before), Some(now)) => Arc::ptr_eq(before, now),
            (_, now) => now.is_none(),
        };
        if !same {
            return now;
        }
    };
    let first = next_after(None);
    monitor.wake();
    let second = next_after(first).unwrap();
    assert!(second.process.open_fds > Some(0) && second.threads["machine"].run_nanos > 0, "{second:?}");
    let shared = Arc::downgrade(&monitor.shared);
    drop(monitor);
    while shared.strong_count() > 0 {
        std::thread::yield_now();
    }
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test's own sockets")]
fn the_queue_of_a_listening_socket_is_a_bound_and_another_descriptor_has_none() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let monitor = MachineMonitor::default();
    let address = listener.local_addr().unwrap();
    let bound = monitor.listens(&listener, address).unwrap();
    assert_eq!((bound.used(), bound.which()), (0, &*address.to_string()));
    let _client = std::net::TcpStream::connect(address).unwrap();
    lock(&monitor.shared.queues).read();
    assert_eq!((bound.used(), bound.highest()), (1, 1));
    let file = std::fs::File::open("/proc/self/stat").unwrap();
    assert!(monitor.listens(&file, address).is_none());
}
