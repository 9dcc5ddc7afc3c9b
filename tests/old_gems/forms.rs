//! Gems in the forms that RubyGems wrote over twenty years, and with faults that no installation minds.

use crate::hostile_gems::made::{Members, archive, gem, gzip, header, members, package, packed, spec};
use crate::world::Gem;

/// The version of all of them.
pub(super) const VERSION: &str = "2.0.0";

/// A dependency as RubyGems 1.8 wrote it: with an alias.
const ALIASES: &str = "dependencies:
- !ruby/object:Gem::Dependency
  name: wick
  requirement: &70123 !ruby/object:Gem::Requirement
    none: false
    requirements:
    - - ! '>='
      - !ruby/object:Gem::Version
        version: '0'
  type: :runtime
  prerelease: false
  version_requirements: *70123
rubygems_version: 1.8.11";

/// Requirements and a date as RubyGems 0.9 wrote them.
const BEFORE_ONE: &str = "date: 2007-03-04 00:00:00 +01:00
dependencies:
- !ruby/object:Gem::Dependency
  name: wick
  version_requirement:
  version_requirements: !ruby/object:Gem::Version::Requirement
    requirements:
    - - \">=\"
      - !ruby/object:Gem::Version
        version: \"0\"
    version:
required_ruby_version: !ruby/object:Gem::Version::Requirement
  requirements:
  - - \">\"
    - !ruby/object:Gem::Version
      version: 0.0.0
  version:
required_rubygems_version:
specification_version: 1
rubygems_version: 0.9.4";

/// A requirement with the `=` of Ruby 1.8.
const DEFAULT_KEY: &str = "dependencies:
- !ruby/object:Gem::Dependency
  name: wick
  version_requirements: !ruby/object:Gem::Requirement
    requirements:
    - - !ruby/object:YAML::Syck::DefaultKey {}

      - !ruby/object:Gem::Version
        version: 1.0.0
    version:";

fn form(name: &str, bytes: Vec<u8>) -> Gem {
    Gem::new(name, VERSION).made_of(bytes)
}

fn with(name: &str, lines: &str) -> Gem {
    form(name, gem(&format!("name: {name}\n{lines}")))
}

fn members_of(name: &str) -> Members<'static> {
    members(&spec(&format!("name: {name}")))
}

/// Gems that RubyGems 3.2 to 4.0 install, and that nobody may push.
pub(super) fn that_install() -> Vec<Gem> {
    let before_one = spec(&format!("name: before-one\n{BEFORE_ONE}"));
    let plain = vec![("metadata", before_one.into_bytes()), members_of("before-one").remove(1)];
    let mut signed = members(&spec("name: signed\ncert_chain: [x]"));
    signed.push(("data.tar.gz.sig", b"x".to_vec()));
    let twice = spec("name: twice\nsummary: One") + "summary: Two\n--- {}\n";
    vec![
        with("aliases", ALIASES).needs("wick", ">= 0"),
        form("before-one", package(&plain)).needs("wick", ">= 0"),
        form("behind", [&*gem("name: behind"), b"x"].concat()),
        with(
            "bare",
            "authors: []\nsummary:\nmetadata: {homepage_uri: none, some: [list]}\nhomepage: [a]\nemail: {a: b}",
        ),
        with("encoded", "authors:\n- !binary |\n  SvZyZw==\ndescription: \"\\e[2Jtext\""),
        form("odd", odd_archive()),
        form("signed", package(&signed)),
        form("twice", package(&members(&twice))),
        with("wordy", &format!("licenses: [{}]\nsummary: {}", "a".repeat(100), "b".repeat(70_000))),
    ]
}

/// Gems that only some of them, or only older ones, install.
pub(super) fn that_installed() -> Vec<Gem> {
    let mut latin = spec("name: latin\nauthors: [J?rg]").into_bytes();
    let at = latin.iter().position(|byte| *byte == b'?').unwrap();
    latin[at] = 0xf6;
    vec![
        with("default-key", DEFAULT_KEY).needs("wick", "= 1.0.0"),
        form("latin", package(&packed(gzip(&latin), members_of("latin").remove(1).1))),
        with("two-platforms", "platform: ruby\noriginal_platform: java"),
        with("x86", "platform: !ruby/object:Gem::Platform\n  cpu: x86\n  os: mswin32\n  version: 60")
            .platform("x86-mswin32-60"),
    ]
}

/// Headers of GNU tar, an unknown member at the front, bytes after the gzip stream, and no end.
fn odd_archive() -> Vec<u8> {
    let mut all = members_of("odd");
    all[0].1.extend(b"xx");
    all.truncate(2);
    all.insert(0, ("./read.me", b"hello".to_vec()));
    let gnu = |(name, bytes): &(&str, Vec<u8>)| {
        let mut gnu = header(name, bytes.len() as u64);
        gnu.as_mut_bytes()[257..265].copy_from_slice(b"ustar  \0");
        gnu.set_cksum();
        gnu
    };
    let headers: Vec<_> = all.iter().map(gnu).collect();
    let mut bytes = archive(&headers, &all.iter().map(|(_, bytes)| bytes.as_slice()).collect::<Vec<_>>());
    bytes.truncate(bytes.len() - 1024);
    bytes
}
