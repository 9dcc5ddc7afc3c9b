//! The gems that upstreams and hosted repositories can have: real packages, built once.

use crate::world::{Gem, hex};
use sha2::{Digest, Sha256};
use std::sync::OnceLock;

/// Some full names can be read in two ways.
pub(super) const NAMES: [&str; 5] = ["lamp", "lamp-2", "oil", "oil-can", "Wick_"];
pub(super) const TOKENS: [&str; 5] = ["1.0", "1.1", "2.0.pre", "1.1-java", "2.0"];
/// The number of different packages of each version for each source, because private upstreams replace packages.
pub(super) const EDITIONS: usize = 3;
/// Two upstreams and two hosted repositories. They share no package.
const SOURCES: usize = 4;
const PACKAGES: usize = NAMES.len() * TOKENS.len() * EDITIONS * SOURCES;

pub(super) struct Package {
    pub(super) bytes: Vec<u8>,
    pub(super) sha256: String,
}

/// The package of a version in this edition. The editions of the first source come first, then those of the second, and
/// so on.
pub(super) fn package(name: usize, token: usize, edition: usize) -> &'static Package {
    static POOL: [OnceLock<Package>; PACKAGES] = [const { OnceLock::new() }; PACKAGES];
    POOL[(name * TOKENS.len() + token) * EDITIONS * SOURCES + edition].get_or_init(|| {
        let (number, platform) = TOKENS[token].split_once('-').unwrap_or((TOKENS[token], "ruby"));
        let gem = Gem::new(NAMES[name], number).platform(platform).payload(format!("edition {edition}").as_bytes());
        let bytes = if needs_oil(name, token) { gem.needs("oil", "~> 1.0") } else { gem }.bytes();
        Package { sha256: hex(&Sha256::digest(&bytes)), bytes }
    })
}

/// The edition with this number of a source.
pub(super) fn edition(source: usize, count: usize) -> usize {
    source * EDITIONS + count % EDITIONS
}

fn needs_oil(name: usize, token: usize) -> bool {
    name == 0 && token % 2 == 1
}

/// The line of a version in `/info`. Some lines have a date, true or not.
pub(super) fn line(name: usize, token: usize, edition: usize) -> String {
    let needs = if needs_oil(name, token) { "oil:~> 1.0" } else { "" };
    let more = [",ruby:>= 2.5", "", ",created_at:2026-10-01T00:00:00Z"][token % 3];
    format!("{} {needs}|checksum:{}{more}", TOKENS[token], package(name, token, edition).sha256)
}

/// The name of a package, without its file ending.
pub(super) fn full_name(name: usize, token: usize) -> String {
    format!("{}-{}", NAMES[name], TOKENS[token])
}

/// The index of this name.
pub(super) fn name_of(name: &str) -> usize {
    NAMES.iter().position(|one| *one == name).unwrap_or_else(|| panic!("nobody has a gem {name:?}"))
}
