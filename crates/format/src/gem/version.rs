//! Reads and orders versions as RubyGems does (`Gem::Version`), with numbers of any length.

use super::Invalid;
use super::invalid::quoted;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A version in its original spelling. Equal and ordered as in RubyGems: `1.0` and `1.0.0` are equal, `1.0.rc1` is
/// before `1.0`. Compare [`Version::as_str`] where the spelling matters.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Version(String);

/// A run of letters or of digits. Letters are less than numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Segment<'a> {
    Letters(&'a [u8]),
    /// The number of digits, and the digits without leading zeros. So a longer number is greater.
    Number(usize, &'a [u8]),
}

const ZERO: Segment<'static> = Segment::Number(0, b"");

impl Version {
    /// Reads `[0-9]+(\.[0-9a-zA-Z]+)*(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?`, at most [`super::name::MAX`] bytes. A dash
    /// stands for `.pre.`, as in a requirement; a published version has no dash ([`Version::published`]).
    pub fn parse(text: &str) -> Result<Self, Invalid> {
        let (release, pre) = text.split_once('-').map_or((text, None), |(release, pre)| (release, Some(pre)));
        let parts = |text: &str, dash: bool| {
            text.split('.').all(|part| {
                !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || dash && byte == b'-')
            })
        };
        let first = release.split('.').next().unwrap_or_default();
        let valid = text.len() <= super::name::MAX
            && first.bytes().all(|byte| byte.is_ascii_digit())
            && parts(release, false)
            && pre.is_none_or(|pre| parts(pre, true));
        if valid { Ok(Self(text.to_owned())) } else { Err(Invalid::BadVersion(quoted(text))) }
    }

    /// Reads the version of a package: without a dash, which in an index line begins the platform.
    pub fn published(text: &str) -> Result<Self, Invalid> {
        Self::parse(text)
            .and_then(|version| if text.contains('-') { Err(Invalid::BadVersion(quoted(text))) } else { Ok(version) })
    }

    /// `0`, the least version without letters.
    pub fn zero() -> Self {
        Self("0".to_owned())
    }

    /// Its original spelling.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it contains a letter (or a dash, which stands for `.pre.`).
    pub fn prerelease(&self) -> bool {
        self.0.bytes().any(|byte| byte.is_ascii_alphabetic() || byte == b'-')
    }

    /// The segments without insignificant zeros: those at the end, and those just before the first letters.
    fn canonical(&self) -> Vec<Segment<'_>> {
        let mut segments = Vec::new();
        let mut released = true;
        for run in self.0.as_bytes().chunk_by(|a, b| Class::of(*a) == Class::of(*b) && *a != b'-') {
            let segment = match Class::of(run[0]) {
                Class::Dot => continue,
                Class::Dash => Segment::Letters(b"pre"),
                Class::Letter => Segment::Letters(run),
                Class::Digit => {
                    let zeros = run.iter().take_while(|digit| **digit == b'0').count();
                    Segment::Number(run.len() - zeros, &run[zeros..])
                }
            };
            if released && matches!(segment, Segment::Letters(_)) {
                drop_zeros(&mut segments);
                released = false;
            }
            segments.push(segment);
        }
        drop_zeros(&mut segments);
        segments
    }
}

#[derive(PartialEq, Eq)]
enum Class {
    Digit,
    Letter,
    Dash,
    Dot,
}

impl Class {
    fn of(byte: u8) -> Self {
        match byte {
            b'0'..=b'9' => Class::Digit,
            b'-' => Class::Dash,
            b'.' => Class::Dot,
            _ => Class::Letter,
        }
    }
}

fn drop_zeros(segments: &mut Vec<Segment<'_>>) {
    while segments.last() == Some(&ZERO) {
        segments.pop();
    }
}

impl Ord for Version {
    /// `Gem::Version#<=>`: canonical segments pair by pair, the shorter one continued with zeros.
    fn cmp(&self, other: &Self) -> Ordering {
        let (mine, theirs) = (self.canonical(), other.canonical());
        (0..mine.len().max(theirs.len()))
            .map(|i| mine.get(i).unwrap_or(&ZERO).cmp(theirs.get(i).unwrap_or(&ZERO)))
            .find(|order| order.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Version {}

impl Hash for Version {
    /// Equal versions have equal hashes, whatever their spelling.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.canonical().hash(state);
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Version> for String {
    fn from(version: Version) -> Self {
        version.0
    }
}

impl TryFrom<String> for Version {
    type Error = Invalid;

    fn try_from(text: String) -> Result<Self, Invalid> {
        Self::parse(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn versions_are_ordered_as_rubygems_does() {
        let sorted = [
            "0",
            "0.0.1.a",
            "0.9",
            "1.a",
            "1.a.1",
            "1.a.2",
            "1.b",
            "1.0.0-rc1",
            "1.pre.rc1.1",
            "1.rc1",
            "1",
            "1.0.1.a",
            "1.0.1",
            "1.2",
            "1.10",
            "1.99999999999999999999999",
            "1.100000000000000000000000",
            "2.A",
            "2.a",
            "2",
        ];
        for pair in sorted.windows(2) {
            assert!(version(pair[0]) < version(pair[1]), "{pair:?}");
        }
        for (a, b) in
            [("1", "1.0.0"), ("1.0.a", "1.a"), ("1.a.0", "1.a"), ("01.2", "1.02"), ("1-1", "1.pre.1"), ("0", "0.0")]
        {
            assert_eq!(version(a), version(b));
            let hash = |text| BuildHasherDefault::<DefaultHasher>::default().hash_one(version(text));
            assert_eq!(hash(a), hash(b));
        }
        assert!(version("1.0.rc1").prerelease() && version("1-2").prerelease() && !version("1.0").prerelease());
    }

    #[test]
    fn what_is_not_a_version_is_refused() {
        for bad in
            ["", " 1", "1 ", "1.", ".1", "a", "a.1", "1..2", "1\n2", "1,2", "1/2", "1_2", "1-", "1.-2", "é", "1-a..b"]
        {
            assert!(Version::parse(bad).is_err(), "{bad:?}");
        }
        assert!(Version::parse("1.0-beta-2.x").is_ok());
        assert_eq!(Version::published("1.0-x").unwrap_err().to_string(), "`1.0-x` is not a valid version");
        assert!(Version::parse(&"1".repeat(255)).is_ok() && Version::parse(&"1".repeat(256)).is_err());
    }

    const ANY: &str = "[0-9]{1,3}(\\.([0-2]{1,2}|[ab]{1,2}|0|[a-b][0-1])){0,4}(-[0a]{1,2})?";

    proptest! {
        #[test]
        fn the_order_is_total(a in ANY, b in ANY, c in ANY) {
            let (a, b, c) = (version(&a), version(&b), version(&c));
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            prop_assert_eq!(a.cmp(&a), Ordering::Equal);
            let mut sorted = [&a, &b, &c];
            sorted.sort();
            prop_assert!(sorted[0] <= sorted[2]);
            if a == b { prop_assert_eq!(a.cmp(&c), b.cmp(&c)); }
        }

        #[test]
        fn released_versions_are_ordered_as_their_numbers(a in prop::array::uniform3(0u32..), b in prop::array::uniform3(0u32..)) {
            let text = |n: [u32; 3]| version(&format!("{}.{}.{}", n[0], n[1], n[2]));
            prop_assert_eq!(text(a).cmp(&text(b)), a.cmp(&b));
        }

        #[test]
        fn letters_make_a_version_earlier(a in "[0-9]{1,2}(\\.[1-9]){0,3}", pre in "[a-z]{1,3}[0-9]{0,2}") {
            let lettered = version(&format!("{a}.{pre}"));
            prop_assert!(lettered < version(&a));
        }

        #[test]
        fn a_version_survives_the_journal(a in ANY) {
            let read: Version = serde_json::from_str(&serde_json::to_string(&version(&a)).unwrap()).unwrap();
            prop_assert_eq!(read.as_str(), a);
        }
    }
}
