//! Pressure stall information: for how long tasks could not continue because a resource was missing.

use crate::machine::kernel_text::read;
use std::path::Path;

/// The time in which tasks waited for one resource.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Pressure {
    /// At least one task waited.
    pub some: Option<Stall>,
    /// All tasks waited, so nothing was done.
    pub full: Option<Stall>,
}

/// A share of time in which tasks waited.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Stall {
    /// The share of the last ten seconds, from 0 to 1.
    pub share: f64,
    /// The whole time so far, in nanoseconds.
    pub nanos: u64,
}

/// The pressure on each resource. All are empty where the kernel does not measure it.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Pressures {
    /// Waiting for a processor.
    pub cpu: Pressure,
    /// Waiting for memory: swapping, or reading again what was evicted.
    pub memory: Pressure,
    /// Waiting for disks.
    pub io: Pressure,
}

impl Pressures {
    /// The pressures of the machine, from `/proc/pressure`.
    pub(super) fn of_machine(root: &Path) -> Self {
        Self::read(|resource| root.join("proc/pressure").join(resource))
    }

    /// The pressures of a cgroup of version 2. The root has the pressure of the machine and counts as none.
    pub(super) fn of_cgroup(folder: &Path) -> Self {
        if !folder.join("cgroup.type").exists() {
            return Self::default();
        }
        Self::read(|resource| folder.join(format!("{resource}.pressure")))
    }

    fn read(path: impl Fn(&str) -> std::path::PathBuf) -> Self {
        let of = |resource| read(&path(resource)).map_or_else(Pressure::default, |text| Pressure::parse(&text));
        Self { cpu: of("cpu"), memory: of("memory"), io: of("io") }
    }

    /// Each resource with its name.
    pub(crate) fn each(&self) -> [(&'static str, &Pressure); 3] {
        [("cpu", &self.cpu), ("memory", &self.memory), ("io", &self.io)]
    }
}

impl Pressure {
    fn parse(text: &str) -> Self {
        let line = |kind: &str| text.lines().find_map(|line| line.strip_prefix(kind)).and_then(Stall::parse);
        Self { some: line("some "), full: line("full ") }
    }
}

impl Stall {
    /// `avg10=0.12 avg60=0.00 avg300=0.00 total=1234`: percents, and microseconds.
    fn parse(line: &str) -> Option<Self> {
        let value = |name: &str| line.split(' ').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
        let percent: f64 = value("avg10")?.parse().ok()?;
        let micros: u64 = value("total")?.trim_end().parse().ok()?;
        let share = (0.0..=100.0).contains(&percent).then_some(percent / 100.0)?;
        Some(Self { share, nanos: micros.saturating_mul(1000) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::tests::folders;
    use proptest::prelude::*;

    const TEXT: &str = "some avg10=84.38 avg60=78.11 avg300=53.48 total=50674689648\n\
        full avg10=0.50 avg60=0.00 avg300=0.00 total=12\n";

    #[test]
    fn some_and_full_are_shares_of_ten_seconds_and_totals() {
        let both = Pressure {
            some: Some(Stall { share: 0.8438, nanos: 50_674_689_648_000 }),
            full: Some(Stall { share: 0.005, nanos: 12_000 }),
        };
        assert_eq!(Pressure::parse(TEXT), both);
        // Before Linux 5.13 the processors have no second line.
        assert_eq!(Pressure::parse(TEXT.lines().next().unwrap()), Pressure { full: None, ..both });
    }

    #[test]
    fn what_the_kernel_does_not_measure_is_absent() {
        let (root, levels) = folders(&["a"], &[("proc/pressure/cpu", TEXT), ("a/cpu.pressure", TEXT)]);
        let machine = Pressures::of_machine(root.path());
        assert!(machine.cpu.some.is_some());
        assert_eq!((machine.memory, machine.io), Default::default());
        assert_eq!(Pressures::of_cgroup(&levels[0]), Pressures::default(), "the root cgroup");
        let (_root, levels) = folders(&["a"], &[("a/io.pressure", TEXT), ("a/cgroup.type", "domain\n")]);
        let own = Pressures::of_cgroup(&levels[0]);
        assert_eq!((own.cpu, own.io), (Pressure::default(), Pressure::parse(TEXT)));
    }

    #[test]
    fn a_broken_line_is_absent() {
        for text in
            ["", "some", "some avg10=1 total=x", "some avg10=nan total=1", "some avg10=101 total=1", "full total=1"]
        {
            assert_eq!(Pressure::parse(text), Pressure::default(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "((some|full) avg10=[0-9.x-]{0,9} total=[0-9x]{0,25}\n?){0,3}.*") {
            Pressure::parse(&text);
        }
    }
}
