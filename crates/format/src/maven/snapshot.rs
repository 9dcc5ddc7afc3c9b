//! Builds of snapshots: the time and the number that replace `SNAPSHOT` in the names of their files.

use std::fmt;

/// A build of a snapshot: `20260101.120000-1`. Ordered by time, then by number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Build<'a> {
    /// The time of the build in UTC: `yyyyMMdd.HHmmss`.
    pub timestamp: &'a str,
    /// Its number: one more than that of the previous build.
    pub number: u32,
}

impl<'a> Build<'a> {
    /// Length of a timestamp.
    const TIMESTAMP: usize = 15;

    /// Reads a build that is the whole text.
    pub fn read(text: &'a str) -> Option<Self> {
        Self::leading(text).filter(|(_, rest)| rest.is_empty()).map(|(build, _)| build)
    }

    /// Reads a build at the beginning of a text, and returns the rest.
    pub fn leading(text: &'a str) -> Option<(Self, &'a str)> {
        let (timestamp, rest) = text.split_at_checked(Self::TIMESTAMP)?;
        let rest = rest.strip_prefix('-').filter(|_| Self::is_timestamp(timestamp))?;
        let end = rest.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
        let (number, rest) = rest.split_at(end);
        // No tool writes `007`. If it were accepted, two names would stand for one build.
        let number = Some(number).filter(|number| !number.starts_with('0') || number.len() == 1)?.parse().ok()?;
        Some((Self { timestamp, number }, rest))
    }

    /// Reads the build at the end of an expanded version.
    pub fn trailing(expanded: &'a str) -> Option<Self> {
        let (before, _) = expanded.rsplit_once('-')?;
        Self::read(expanded.get(before.rfind('-').map_or(0, |dash| dash + 1)..)?)
    }

    /// Whether a text is a time as in file names: `yyyyMMdd.HHmmss`.
    pub fn is_timestamp(text: &str) -> bool {
        let digits = |(at, byte): (usize, u8)| if at == 8 { byte == b'.' } else { byte.is_ascii_digit() };
        text.len() == Self::TIMESTAMP && text.bytes().enumerate().all(digits)
    }

    /// Its time in the form of metadata, `yyyyMMddHHmmss`.
    pub fn updated(&self) -> String {
        self.timestamp.replace('.', "")
    }
}

impl fmt::Display for Build<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.timestamp, self.number)
    }
}

/// The text before `SNAPSHOT`, for a version that can have builds.
pub(super) fn number(version: &str) -> Option<&str> {
    version.strip_suffix("SNAPSHOT").filter(|number| number.is_empty() || number.ends_with('-'))
}

/// The version in the file names of a build: `1.0-SNAPSHOT` with its build gives `1.0-20260101.120000-1`. `None`: the
/// version has no builds.
pub fn expanded(version: &str, build: Build<'_>) -> Option<String> {
    number(version).map(|number| format!("{number}{build}"))
}

/// The build in an expanded version of `version`, as the resolver reads it (`^(.*-)?([0-9]{8}\.[0-9]{6}-[0-9]+)$`).
pub fn build_of<'a>(version: &str, expanded: &'a str) -> Option<Build<'a>> {
    Build::read(expanded.strip_prefix(number(version)?)?)
}

/// The folder's version for the version in a file name: `1.0-20260101.120000-1` and `1.0-SNAPSHOT` both give
/// `1.0-SNAPSHOT`.
pub fn base(version: &str) -> String {
    match Build::trailing(version) {
        Some(build) => format!("{}SNAPSHOT", &version[..version.len() - build.to_string().len()]),
        None => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_is_read_and_written_the_same() {
        let build = Build::read("20260101.120000-12").unwrap();
        assert_eq!(build, Build { timestamp: "20260101.120000", number: 12 });
        assert_eq!(build.to_string(), "20260101.120000-12");
        assert_eq!(build.updated(), "20260101120000");
        assert_eq!(Build::leading("20260101.120000-1-sources.jar").unwrap().1, "-sources.jar");
        for none in [
            "",
            "20260101.120000",
            "20260101.120000-",
            "20260101-120000-1",
            "2026010.1120000-1",
            "20260101.12000\u{e9}-1",
            "20260101.120000-01",
            "20260101.120000-99999999999",
            "20260101.120000-1 ",
        ] {
            assert_eq!(Build::read(none), None, "{none}");
        }
    }

    #[test]
    fn builds_are_ordered_by_time_and_then_by_number() {
        let sorted = ["20251231.235959-10", "20260101.120000-9", "20260101.120000-10"].map(Build::read);
        assert!(sorted.is_sorted(), "{sorted:?}");
    }

    #[test]
    fn a_snapshots_version_and_that_of_a_build_lead_to_each_other() {
        for (version, name) in [
            ("1.0-SNAPSHOT", "1.0-20260101.120000-1"),
            ("1.0-beta-SNAPSHOT", "1.0-beta-20260101.120000-1"),
            ("SNAPSHOT", "20260101.120000-1"),
        ] {
            let build = build_of(version, name).unwrap();
            assert_eq!(expanded(version, build).as_deref(), Some(name));
            assert_eq!(base(name), version);
            assert_eq!(base(version), version);
        }
        let build = Build { timestamp: "20260101.120000", number: 1 };
        assert_eq!(expanded("1.0", build), None);
        assert_eq!(expanded("1.0SNAPSHOT", build), None);
        assert_eq!(build_of("1.0-SNAPSHOT", "1.1-20260101.120000-1"), None);
        assert_eq!(base("1.0"), "1.0");
    }
}
