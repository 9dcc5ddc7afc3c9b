//! Packages made in memory for the tests, byte by byte as RubyGems writes them.

use super::package::hex;
use sha2::{Digest as _, Sha256, Sha512};
use std::io::Write as _;

/// The gemspec as RubyGems 3.3 writes it.
pub(crate) const SPEC_3_3: &str = r#"--- !ruby/object:Gem::Specification
name: demo-lib
version: !ruby/object:Gem::Version
  version: 1.2.0.pre1
platform: x86_64-linux-gnu
authors:
- Ann Ö
- Bob
autorequire:
bindir: exe
cert_chain: []
date: 2026-11-20 00:00:00.000000000 Z
dependencies:
- !ruby/object:Gem::Dependency
  name: zeta
  requirement: !ruby/object:Gem::Requirement
    requirements:
    - - ">="
      - !ruby/object:Gem::Version
        version: '0'
  type: :runtime
  prerelease: false
  version_requirements: !ruby/object:Gem::Requirement
    requirements:
    - - ">="
      - !ruby/object:Gem::Version
        version: '0'
- !ruby/object:Gem::Dependency
  name: rack
  requirement: !ruby/object:Gem::Requirement
    requirements:
    - - "~>"
      - !ruby/object:Gem::Version
        version: '2.0'
    - - ">="
      - !ruby/object:Gem::Version
        version: 2.0.5
  type: :runtime
  prerelease: false
  version_requirements: !ruby/object:Gem::Requirement
    requirements:
    - - "~>"
      - !ruby/object:Gem::Version
        version: '2.0'
    - - ">="
      - !ruby/object:Gem::Version
        version: 2.0.5
- !ruby/object:Gem::Dependency
  name: rake
  requirement: !ruby/object:Gem::Requirement
    requirements:
    - - ">="
      - !ruby/object:Gem::Version
        version: '12'
  type: :development
  prerelease: false
  version_requirements: !ruby/object:Gem::Requirement
    requirements:
    - - ">="
      - !ruby/object:Gem::Version
        version: '12'
description: |
  Multi
  line

    text: here
email:
- a@example.org
- b@example.org
executables:
- demo
extensions: []
extra_rdoc_files: []
files:
- exe/demo
- lib/a.rb
homepage: https://example.org/x
licenses:
- MIT
metadata:
  source_code_uri: https://example.org/src
  x: 'true'
post_install_message: hi
rdoc_options: []
require_paths:
- lib
required_ruby_version: !ruby/object:Gem::Requirement
  requirements:
  - - ">="
    - !ruby/object:Gem::Version
      version: '2.7'
  - - "<"
    - !ruby/object:Gem::Version
      version: '4'
required_rubygems_version: !ruby/object:Gem::Requirement
  requirements:
  - - ">="
    - !ruby/object:Gem::Version
      version: '3'
requirements:
- libfoo
rubygems_version: 3.3.15
signing_key:
specification_version: 4
summary: 'A: summary # with ''odd'' chars'
test_files: []
"#;

/// The gemspec as RubyGems 3.6 writes it, without fields that have their default.
pub(crate) const SPEC_3_6: &str = r#"--- !ruby/object:Gem::Specification
name: plain
version: !ruby/object:Gem::Version
  version: '1.0'
platform: ruby
authors:
- Ann
bindir: bin
cert_chain: []
date: 1980-01-02 00:00:00.000000000 Z
dependencies: []
executables: []
extensions: []
extra_rdoc_files: []
files:
- lib/plain.rb
licenses: []
metadata: {}
rdoc_options: []
require_paths:
- lib
required_ruby_version: !ruby/object:Gem::Requirement
  requirements:
  - - ">="
    - !ruby/object:Gem::Version
      version: '0'
required_rubygems_version: !ruby/object:Gem::Requirement
  requirements:
  - - ">="
    - !ruby/object:Gem::Version
      version: '0'
requirements: []
rubygems_version: 3.6.7
specification_version: 4
summary: Plain
test_files: []
"#;

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// `checksums.yaml.gz` of these members.
pub(crate) fn checksums(members: &[(&str, &[u8])]) -> Vec<u8> {
    let of = |sum: fn(&[u8]) -> String| -> String {
        members.iter().map(|(name, bytes)| format!("  {name}: {}\n", sum(bytes))).collect()
    };
    let sha256 = of(|bytes| hex(&Sha256::digest(bytes)));
    let sha512 = of(|bytes| hex(&Sha512::digest(bytes)));
    gzip(format!("---\nSHA256:\n{sha256}SHA512:\n{sha512}").as_bytes())
}

/// A header as RubyGems writes it.
pub(crate) fn header(name: &str, size: u64) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_mode(0o444);
    header.set_size(size);
    header.set_mtime(1_795_000_000);
    header.set_uid(0);
    header.set_gid(0);
    header.set_username("wheel").unwrap();
    header.set_groupname("wheel").unwrap();
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    header
}

/// An archive of members whose headers may be wrong.
pub(crate) fn archive(members: &[(tar::Header, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (header, bytes) in members {
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

/// An archive of members with correct headers.
pub(crate) fn package(members: &[(&str, &[u8])]) -> Vec<u8> {
    let members: Vec<_> = members.iter().map(|(name, bytes)| (header(name, bytes.len() as u64), *bytes)).collect();
    archive(&members)
}

/// A whole gem around a gemspec.
pub(crate) fn gem(spec: &str) -> Vec<u8> {
    let (metadata, data) = (gzip(spec.as_bytes()), gzip(b"no matter"));
    let checksums = checksums(&[("metadata.gz", &metadata), ("data.tar.gz", &data)]);
    package(&[("metadata.gz", &metadata), ("data.tar.gz", &data), ("checksums.yaml.gz", &checksums)])
}
