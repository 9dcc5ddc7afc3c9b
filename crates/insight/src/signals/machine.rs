//! Figures of the machine and of the pools of threads, as differences between samples.

/// The figures of the machine in a window.
#[derive(Debug, Clone, Default)]
pub(crate) struct MachineSeen {
    /// How long the threads of this process were ready and had no processor, in nanoseconds.
    pub(crate) starved_nanos: u64,
    /// How long its cgroup was throttled, in nanoseconds.
    pub(crate) throttled_nanos: u64,
}

impl MachineSeen {
    pub(crate) fn add(&mut self, other: &Self) {
        self.starved_nanos += other.starved_nanos;
        self.throttled_nanos += other.throttled_nanos;
    }
}
