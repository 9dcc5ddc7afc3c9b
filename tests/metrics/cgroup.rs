//! A cgroup with a controller, made for a test and removed after it.

use std::fs;
use std::path::{Path, PathBuf};

/// Where hierarchies are mounted.
const MOUNT: &str = "/sys/fs/cgroup";

/// A cgroup. Dropping it removes it; its processes have ended or were moved before.
pub(crate) struct Cgroup {
    folder: PathBuf,
    /// Whether it is in a hierarchy of the controller's own.
    first_version: bool,
}

impl Cgroup {
    /// A cgroup below the root. `None`: this user or this machine may not make one.
    pub(crate) fn make(controller: &str) -> Option<Self> {
        let (own, all) = (Path::new(MOUNT).join(controller), Path::new(MOUNT).to_owned());
        let first_version = own.join("cgroup.procs").exists();
        let root = if first_version { own } else { all };
        let enabled = fs::read_to_string(root.join("cgroup.subtree_control")).unwrap_or_default();
        let folder = root.join(format!("daylight-test-{controller}-{}", std::process::id()));
        let usable = first_version || enabled.split_whitespace().any(|enabled| enabled == controller);
        (usable && fs::create_dir(&folder).is_ok()).then_some(Self { folder, first_version })
    }

    /// A cgroup in this one.
    pub(crate) fn inner(&self, controller: &str) -> Self {
        if !self.first_version {
            self.set("cgroup.subtree_control", &format!("+{controller}"));
        }
        let folder = self.folder.join("inner");
        fs::create_dir(&folder).unwrap();
        Self { folder, first_version: self.first_version }
    }

    /// Limits the memory.
    pub(crate) fn limit_memory(&self, bytes: u64) {
        self.set(if self.first_version { "memory.limit_in_bytes" } else { "memory.max" }, &bytes.to_string());
    }

    /// Limits the processor time in each period of 100 ms.
    pub(crate) fn limit_cpu(&self, micros: u64) {
        match self.first_version {
            true => self.set("cpu.cfs_quota_us", &micros.to_string()),
            false => self.set("cpu.max", &format!("{micros} 100000")),
        }
    }

    /// Moves a process here.
    pub(crate) fn take(&self, process: i32) {
        self.set("cgroup.procs", &process.to_string());
    }

    /// Moves a process to the cgroup above it.
    pub(crate) fn release(&self, process: i32) {
        let root = self.folder.parent().unwrap();
        fs::write(root.join("cgroup.procs"), process.to_string()).unwrap();
    }

    fn set(&self, file: &str, text: &str) {
        fs::write(self.folder.join(file), text).unwrap_or_else(|error| panic!("{file} = {text}: {error}"));
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The kernel removes the last process a moment after it has ended.
        for _ in 0..100_000 {
            if fs::remove_dir(&self.folder).is_ok() {
                return;
            }
            std::thread::yield_now();
        }
    }
}
