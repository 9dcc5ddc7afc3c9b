//! `/info/NAME` of the compact index: one line for each version of a gem.
//!
//! Clients compare the MD5 of the whole file with the one in `/versions`, so the bytes of a line never change.

use super::facts::slug;
use super::package::hex;
use super::{Dependency, Kind, Package};
use md5::Digest as _;
use std::fmt::Write as _;

/// The content of a line, as set for a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormatVersion {
    /// The form until June 2026, which the conformance suite expects.
    V1,
    /// With `created_at`, which the cooldown of Bundler (since 4.0.13) needs.
    #[default]
    V2,
}

impl FormatVersion {
    /// All of them.
    pub const ALL: &'static [FormatVersion] = &[FormatVersion::V1, FormatVersion::V2];

    /// The name in settings, journal rows and the API.
    pub fn as_str(self) -> &'static str {
        match self {
            FormatVersion::V1 => "v1",
            FormatVersion::V2 => "v2",
        }
    }

    /// The form with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.as_str() == name)
    }
}

/// The line of one version, without a newline. `sha256` is that of the package in hexadecimal; `created_at` is the
/// time of publication, in seconds since the epoch.
pub fn line(package: &Package, sha256: &str, created_at: i64, format: FormatVersion) -> String {
    let mut runtime: Vec<&Dependency> =
        package.dependencies.iter().filter(|dependency| dependency.kind == Kind::Runtime).collect();
    // A stable sort: two dependencies on the same gem keep the order of the gemspec.
    runtime.sort_by(|a, b| a.name.cmp(&b.name));
    let dependencies: Vec<String> =
        runtime.iter().map(|dependency| format!("{}:{}", dependency.name, dependency.requirement.indexed())).collect();
    let number = slug(package.number.as_str(), &package.platform);
    let mut line = format!("{number} {}|checksum:{sha256}", dependencies.join(","));
    for (key, requirement) in [("ruby", &package.required_ruby), ("rubygems", &package.required_rubygems)] {
        if !requirement.is_any() {
            let _ = write!(line, ",{key}:{}", requirement.indexed());
        }
    }
    if format == FormatVersion::V2 {
        let _ = write!(line, ",created_at:{}", seconds(created_at));
    }
    line
}

/// The order of lines: time of publication, then number and platform as text.
pub fn order(package: &Package, created_at: i64) -> (i64, &str, &str) {
    (created_at, package.number.as_str(), &package.platform)
}

/// The file. Without any line it is the file of a gem whose versions were all yanked: clients still request it.
pub fn render<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> Vec<u8> {
    lines.into_iter().fold(b"---\n".to_vec(), |mut body, line| {
        body.extend_from_slice(line.as_ref().as_bytes());
        body.push(b'\n');
        body
    })
}

/// The MD5 of a growing file. A new line only costs hashing that line.
#[derive(Debug, Clone)]
pub struct Sum(md5::Md5);

impl Default for Sum {
    fn default() -> Self {
        Self(md5::Md5::new_with_prefix(render([""; 0])))
    }
}

impl Sum {
    /// Adds a line.
    pub fn add(&mut self, line: &str) {
        self.0.update(line);
        self.0.update("\n");
    }

    /// The digest of the lines so far, in hexadecimal.
    pub fn hex(&self) -> String {
        hex(&self.0.clone().finalize())
    }
}

/// The MD5 of a file in hexadecimal: its `ETag`, and its value in `/versions`.
pub fn md5_hex(body: &[u8]) -> String {
    hex(&md5::Md5::digest(body))
}

/// Parses the moment of a `created_at` into seconds since the epoch.
pub fn moment(text: &str) -> Option<i64> {
    Some(text.parse::<jiff::Timestamp>().ok()?.as_second())
}

/// `2026-05-01T12:00:00Z`.
pub(crate) fn seconds(at: i64) -> String {
    jiff::Timestamp::from_second(at).unwrap_or_default().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gem::{Version, fixture, package};

    const SHA256: &str = "abc123";

    fn built(spec: &str) -> Package {
        package::read(fixture::gem(spec).as_slice(), &crate::gem::Limits::default()).unwrap()
    }

    #[test]
    fn a_line_has_sorted_runtime_dependencies_and_the_keys_in_their_order() {
        assert_eq!(
            line(&built(fixture::SPEC_3_3), SHA256, 1_777_636_800, FormatVersion::V2),
            "1.2.0.pre1-x86_64-linux-gnu rack:>= 2.0.5&~> 2.0,zeta:>= 0|checksum:abc123,ruby:< 4&>= 2.7,rubygems:>= 3,\
             created_at:2026-05-01T12:00:00Z"
        );
    }

    #[test]
    fn a_line_without_dependencies_keeps_its_space_and_leaves_out_what_is_any() {
        let package = built(fixture::SPEC_3_6);
        assert_eq!(line(&package, SHA256, 0, FormatVersion::V1), "1.0 |checksum:abc123");
        assert_eq!(
            line(&package, SHA256, 0, FormatVersion::V2),
            "1.0 |checksum:abc123,created_at:1970-01-01T00:00:00Z"
        );
    }

    #[test]
    fn a_gem_asked_for_twice_stays_two_entries_in_their_order() {
        let mut package = built(fixture::SPEC_3_6);
        package.dependencies = [("b", "= 1"), ("aaab", ">= 0"), ("aaab", "~> 0.2")]
            .map(|(name, requirement)| Dependency {
                name: name.into(),
                kind: Kind::Runtime,
                requirement: crate::gem::Requirement::parse(requirement).unwrap(),
            })
            .into();
        assert_eq!(line(&package, SHA256, 0, FormatVersion::V1), "1.0 aaab:>= 0,aaab:~> 0.2,b:= 1|checksum:abc123");
    }

    #[test]
    fn lines_are_ordered_by_moment_then_number_then_platform_as_text() {
        let mut package = built(fixture::SPEC_3_6);
        package.number = Version::parse("10.0").unwrap();
        let other = built(fixture::SPEC_3_6);
        assert!(order(&other, 5) < order(&package, 5) && order(&package, 4) < order(&other, 5));
    }

    #[test]
    fn the_file_is_three_dashes_and_the_lines() {
        assert_eq!(render(["a", "b"]), b"---\na\nb\n");
        assert_eq!(render([""; 0]), b"---\n");
        assert_eq!(md5_hex(b"---\n"), "6105347ebb9825ac754615ca55ff3b0c");
        let mut sum = Sum::default();
        assert_eq!(sum.hex(), md5_hex(b"---\n"));
        ["a", "b"].iter().for_each(|line| sum.add(line));
        assert_eq!(sum.hex(), md5_hex(&render(["a", "b"])));
    }
}
