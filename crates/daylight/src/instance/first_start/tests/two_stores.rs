//! For tests: two stores over one truth, like those of two processes.

use std::path::PathBuf;
use std::sync::Arc;
use store::{Layout, Store, StoreOptions};
use telemetry::{Clock, Recorder};

/// Two stores with folders of their own below `folder`, and one truth.
pub(crate) fn two_stores(folder: &tempfile::TempDir, clock: &Clock) -> [(Arc<Store>, Arc<Recorder>); 2] {
    let data = ["one", "other"].map(|name| folder.path().join(name));
    let open = |data: &PathBuf| {
        let recorder = Recorder::silent(clock.clone());
        let options = StoreOptions { floor_bytes: 0, ..StoreOptions::new(data, clock.clone(), recorder.clone()) };
        (Store::open(options).unwrap(), recorder)
    };
    let (one, _) = open(&data[0]);
    one.close();
    let (other, _) = open(&data[1]);
    other.close();
    let [truth, link] = [&data[0], &data[1]].map(|data| Layout::new(data).truth());
    #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
    std::fs::remove_file(&link).unwrap();
    std::os::unix::fs::symlink(truth, link).unwrap();
    data.each_ref().map(open)
}
