//! The process of a server: what it uses, and its system calls.

use super::{Watched, World};

impl World {
    /// Its resident memory without that of files, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.server().memory()
    }

    /// The maximum of its resident memory so far, in bytes.
    pub(crate) fn peak(&self) -> u64 {
        self.server().peak()
    }

    /// CPU time that it has used, in microseconds.
    pub(crate) fn cpu_us(&self) -> u64 {
        self.server().cpu_us()
    }

    /// The number of its open descriptors.
    pub(crate) fn descriptors(&self) -> usize {
        self.server().count("fd")
    }

    /// The number of its threads.
    pub(crate) fn threads(&self) -> usize {
        self.server().count("task")
    }

    /// The id of its process, which a restart keeps.
    pub(crate) fn id(&self) -> i32 {
        self.server().id().as_raw_nonzero().get()
    }

    /// Starts to record its system calls.
    pub(crate) fn watch(&self) -> Watched {
        Watched::attach(self.server().id())
    }

    /// Delays a system call of it.
    pub(crate) fn delay(&self, call: &str, micros: u64) -> Watched {
        Watched::delay(self.server().id(), call, micros)
    }
}
