//! `specs.4.8`, `latest_specs.4.8` and `prerelease_specs.4.8`: every version as `[name, Gem::Version, platform]`, in
//! Marshal. `gem list -r`, `gem fetch` and `gem sources --add` read them, and Bundler reads them as a last resort.
//!
//! Only the first element of a file defines the symbols; all others link to them. So an element has the same bytes at
//! every position but the first, and a file can be joined from parts.

use super::Version;
use super::marshal::{self, Writer};
use std::collections::HashMap;

/// The symbols of an element, in the order in which the first element defines them.
const SYMBOLS: &[&str] = &["E", "Gem::Version"];

/// One of the three files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum File {
    /// All released versions.
    Released,
    /// Of those the highest of each gem and platform.
    Latest,
    /// The prereleases.
    Prerelease,
}

impl File {
    /// All of them, in the order of declaration.
    pub const ALL: &'static [File] = &[File::Released, File::Latest, File::Prerelease];

    /// Its name, without the ending for Marshal and gzip.
    pub fn name(self) -> &'static str {
        match self {
            File::Released => "specs",
            File::Latest => "latest_specs",
            File::Prerelease => "prerelease_specs",
        }
    }

    /// The file of this path.
    pub(super) fn at(path: &str) -> Option<Self> {
        let name = path.strip_suffix(".4.8.gz")?;
        Self::ALL.iter().copied().find(|file| file.name() == name)
    }
}

/// The beginning of a file with `count` elements.
pub fn opening(count: usize) -> Vec<u8> {
    let mut out = marshal::OPENING.to_vec();
    Writer::new(&mut out).array(count);
    out
}

/// Appends one element. `first`: it is the first element. The platform is the one for which the gem was pushed,
/// because clients request its file under that name.
pub fn tuple(out: &mut Vec<u8>, name: &str, number: &str, platform: &str, first: bool) {
    let mut to = if first { Writer::new(out) } else { Writer::after(SYMBOLS, out) };
    to.array(3);
    to.string(name);
    version(&mut to, number);
    to.string(platform);
}

/// A `Gem::Version`.
pub(super) fn version(to: &mut Writer<'_>, number: &str) {
    to.loaded("Gem::Version");
    to.array(1);
    to.string(number);
}

/// The versions of one gem, given with their platforms, that belong in `latest_specs.4.8`: for each platform the
/// highest released one. Returns their indexes, in order.
pub fn latest<'a>(versions: impl IntoIterator<Item = (&'a Version, &'a str)>) -> Vec<usize> {
    let mut highest: HashMap<&str, (usize, &Version)> = HashMap::new();
    for (at, (number, platform)) in versions.into_iter().enumerate().filter(|(_, (number, _))| !number.prerelease()) {
        let held = highest.entry(platform).or_insert((at, number));
        if number > held.1 {
            *held = (at, number);
        }
    }
    let mut places: Vec<usize> = highest.into_values().map(|(at, _)| at).collect();
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(first: bool) -> Vec<u8> {
        let mut out = Vec::new();
        tuple(&mut out, "a", "1.0", "ruby", first);
        out
    }

    #[test]
    fn the_first_element_defines_the_symbols_and_the_others_link_to_them() {
        assert_eq!(
            element(true),
            b"[\x08I\"\x06a\x06:\x06ETU:\x11Gem::Version[\x06I\"\x081.0\x06;\0TI\"\x09ruby\x06;\0T"
        );
        assert_eq!(element(false), b"[\x08I\"\x06a\x06;\0TU;\x06[\x06I\"\x081.0\x06;\0TI\"\x09ruby\x06;\0T");
        assert_eq!(opening(0), b"\x04\x08[\0");
        assert_eq!(opening(300), b"\x04\x08[\x02\x2c\x01");
    }

    #[test]
    fn the_latest_are_the_highest_released_of_each_platform() {
        let versions = [
            ("1.9", "ruby"),
            ("1.10", "ruby"),
            ("2.0.rc1", "ruby"),
            ("1.2", "java"),
            ("1.1", "java"),
            ("3.a", "x86-mswin32"),
        ]
        .map(|(number, platform)| (Version::parse(number).unwrap(), platform));
        assert_eq!(latest(versions.iter().map(|(number, platform)| (number, *platform))), [1, 3]);
        assert_eq!(latest([]), [0; 0]);
    }
}
