//! How much of the machine nothing uses.

use crate::findings::wider::spare_descriptors;
use crate::signals::seen::Seen;
use telemetry::{BoundName, MachineSample};

/// The memory that this process could use beside the used memory, in bytes: the rest of the limit of its cgroup, and no more than
/// the machine has. `None`: the kernel does not tell.
pub(crate) fn memory(machine: &MachineSample) -> Option<u64> {
    let limited = machine.memory.and_then(|memory| {
        let limit = memory.limit_bytes?.min(memory.high_bytes.unwrap_or(u64::MAX));
        // Files in the kernel's cache make room for memory of the process.
        Some(limit.saturating_sub(memory.usage_bytes.saturating_sub(memory.cache_bytes.unwrap_or(0))))
    });
    let available = machine.system.available_bytes;
    match (limited, available) {
        (Some(limited), Some(available)) => Some(limited.min(available)),
        (one, other) => one.or(other),
    }
}

/// The part of time in which tasks waited for memory, 0 to 1, on the machine or in the cgroup, whichever is more.
pub(super) fn memory_pressure(machine: &MachineSample) -> f64 {
    let shares = [machine.pressure.memory.some, machine.cgroup_pressure.memory.some];
    shares.into_iter().flatten().map(|stall| stall.share).fold(0.0, f64::max)
}

/// What nothing uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    Memory,
    Disk,
    Descriptors,
}

impl Room {
    /// Its name, for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Room::Memory => "memory",
            Room::Disk => "disk",
            Room::Descriptors => "descriptors",
        }
    }

    /// How much of it nothing uses.
    pub(super) fn unused(self, seen: &Seen) -> Option<u64> {
        match self {
            Room::Memory => memory(seen.machine.as_deref()?),
            Room::Disk => {
                let (_, disk) = seen.recent.bounds.named(BoundName::Disk).next()?;
                Some(disk.capacity.saturating_sub(disk.used_max))
            }
            Room::Descriptors => {
                let process = seen.machine.as_deref()?.process;
                // Connections may come that are not there now.
                Some(process.max_fds?.saturating_sub(process.open_fds?).min(spare_descriptors(seen)?))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use telemetry::{CgroupMemory, System};

    #[test]
    fn unused_memory_is_what_the_cgroup_and_the_machine_leave() {
        let system = System { available_bytes: Some(5000), ..System::default() };
        let mut machine = MachineSample { system, ..MachineSample::default() };
        assert_eq!(memory(&machine), Some(5000));
        machine.memory = Some(CgroupMemory {
            usage_bytes: 900,
            cache_bytes: Some(300),
            limit_bytes: Some(1000),
            high_bytes: None,
            oom_kills: None,
        });
        assert_eq!((memory(&machine), memory(&MachineSample::default())), (Some(400), None));
    }
}
