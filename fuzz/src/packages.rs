//! Gems, and the texts in them.

use super::text;
use flate2::{Compression, write::GzEncoder};
use format::gem::info::{self, FormatVersion};
use format::gem::{
    Kind, Limits, Package, Requirement, Version, content, lock, name, package as gem, path, quick, versions,
};
use sha2::{Digest as _, Sha256};
use std::io::Write as _;

const SHA256: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
const FINE: &str = "--- !ruby/object:Gem::Specification\nname: lamp\nversion: 1.0.0\nauthors: [Ann]\nsummary: A lamp\n";
/// The default limits, lowered so that a small input reaches them.
const LIMITS: Limits = Limits {
    member_bytes: 1 << 16,
    yaml_depth: 8,
    yaml_nodes: 1 << 10,
    yaml_scalar_chars: 1 << 10,
    facts_bytes: 1 << 13,
    metadata_pairs: 8,
    dependencies: 8,
    content_bytes: 1 << 12,
    content_files: 4,
    readme_bytes: 1 << 8,
    list_items: 8,
};

/// A whole file.
pub(crate) fn package(bytes: &[u8]) {
    read(bytes);
}

/// A whole file whose headers get correct checksums, which random bytes would not have.
pub(crate) fn archive(bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    let mut at = 0;
    while let Some(header) = bytes.get_mut(at..at + 512) {
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let digits: String = header[124..135].iter().map(|byte| char::from(*byte)).collect();
        let size = usize::from_str_radix(&digits, 8).unwrap_or(0);
        at += 512 + size.min(bytes.len()).next_multiple_of(512);
    }
    read(&bytes);
}

/// The unpacked content of a file: the answer keeps to the limits.
pub(crate) fn content(bytes: &[u8]) {
    let package = around(&[("data.tar.gz", &packed(bytes))]);
    let Ok(content) = content::read(package.as_slice(), &LIMITS) else { return };
    assert_eq!(content::readme(package.as_slice(), &LIMITS).ok(), Some(content.readme.clone()));
    assert!(content.files.len() <= LIMITS.content_files);
    // Each byte that is not UTF-8 becomes three.
    assert!(content.readme.is_none_or(|readme| readme.text.len() <= 3 * LIMITS.readme_bytes));
}

/// The `metadata.gz` of a file with correct checksums.
pub(crate) fn gzip(bytes: &[u8]) {
    read(&with(bytes, &sums(bytes)));
}

/// The text of a gemspec.
pub(crate) fn gemspec(bytes: &[u8]) {
    let packed = packed(bytes);
    read(&with(&packed, &sums(&packed)));
}

/// The text of the checksums.
pub(crate) fn checksums(bytes: &[u8]) {
    read(&with(&packed(FINE.as_bytes()), &packed(bytes)));
}

/// Two versions, one per line: their order is total and symmetric.
pub(crate) fn version(bytes: &[u8]) {
    let Some((one, other)) = text(bytes).and_then(|text| text.split_once('\n')) else { return };
    let (Ok(one), Ok(other)) = (Version::parse(one), Version::parse(other)) else { return };
    assert_eq!(one.cmp(&other), other.cmp(&one).reverse());
    assert_eq!(one == other, one.cmp(&other).is_eq());
    assert_eq!(Version::parse(one.as_str()).ok().as_ref().map(Version::as_str), Some(one.as_str()));
    let more = Version::parse(&format!("{one}.0"));
    assert!(one.prerelease() || more.is_err() || more.is_ok_and(|more| more == one));
}

/// A requirement: the rendered text is parsed to the same requirement.
pub(crate) fn requirement(bytes: &[u8]) {
    let Some(Ok(requirement)) = text(bytes).map(Requirement::parse) else { return };
    assert_eq!(Requirement::parse(&requirement.to_string()).ok(), Some(requirement.clone()));
    assert!(safe(&requirement.indexed()));
}

/// A `Gemfile.lock`: each of its versions is a file of a repository, and the lock of these alone has the same.
pub(crate) fn lock(bytes: &[u8]) {
    let Some(Ok(versions)) = text(bytes).map(lock::versions) else { return };
    let again: String = versions.iter().map(|one| format!("    {} ({})\n", one.name, one.version)).collect();
    assert_eq!(lock::versions(&format!("GEM\n  specs:\n{again}")), Ok(versions.clone()));
    for one in versions {
        let full_name = format!("{}-{}", one.name, one.version);
        assert_eq!(path::read(&format!("gems/{full_name}.gem")), Some(path::Question::Gem(&full_name)));
    }
}

/// Reads a file in memory and, if it is a gem, compares its index lines and its URL with its facts.
fn read(bytes: &[u8]) {
    // What may be pushed installs.
    if let Ok(package) = gem::read_installable(bytes, &Limits::default()) {
        if name::check(&package.name).is_ok() {
            indexed(&package);
        }
        assert!(!quick::render(&package, 0).is_empty());
    } else {
        assert!(gem::read(bytes, &Limits::default()).is_err());
    }
    // The program's limits and smaller ones differ only in the inputs that they refuse.
    let strict = gem::read(bytes, &LIMITS);
    let Ok(package) = gem::read(bytes, &Limits::default()) else {
        assert!(strict.is_err());
        return;
    };
    assert!(strict.is_err() || strict.is_ok_and(|strict| strict == package));
    indexed(&package);
}

/// Clients parse the lines of the index to exactly the facts.
pub(super) fn indexed(package: &Package) {
    assert!(name::check(&package.name).is_ok());
    assert_eq!(path::read(&format!("info/{}", package.name)), Some(path::Question::Info(&package.name)));
    let full_name = package.full_name();
    assert_eq!(path::read(&format!("gems/{full_name}.gem")), Some(path::Question::Gem(&full_name)));

    let line = info::line(package, SHA256, 0, FormatVersion::V2);
    assert!(safe(&line), "{line:?}");
    let (slug, rest) = line.split_once(' ').expect("a version and a space");
    let (number, platform) = slug.split_once('-').unwrap_or((slug, "ruby"));
    assert_eq!((number, platform), (package.number.as_str(), package.platform.as_str()));
    let (needs, demands) = rest.split_once('|').expect("a bar");
    assert!(!demands.contains('|'));
    let read = |text: &str| Requirement::parse(&text.replace('&', ", ")).expect("a requirement");
    let mut told: Vec<(String, String)> = needs
        .split(',')
        .filter(|need| !need.is_empty())
        .map(|need| need.split_once(':').expect("a name and its requirements"))
        .map(|(name, requirement)| (name.to_owned(), read(requirement).indexed()))
        .collect();
    let runtime = package.dependencies.iter().filter(|dependency| dependency.kind == Kind::Runtime);
    let mut meant: Vec<_> =
        runtime.map(|dependency| (dependency.name.clone(), dependency.requirement.indexed())).collect();
    told.sort();
    meant.sort();
    assert_eq!(told, meant);
    let mut keys = Vec::new();
    for demand in demands.split(',') {
        let (key, value) = demand.split_once(':').expect("a key and a value");
        keys.push(key);
        match key {
            "checksum" => assert_eq!(value, SHA256),
            "ruby" => assert_eq!(read(value).indexed(), package.required_ruby.indexed()),
            "rubygems" => assert_eq!(read(value).indexed(), package.required_rubygems.indexed()),
            "created_at" => assert_eq!(value, "1970-01-01T00:00:00Z"),
            other => panic!("an unknown key: {other:?}"),
        }
    }
    let given = |key, requirement: &Requirement| (!requirement.is_any()).then_some(key);
    let ruby = given("ruby", &package.required_ruby);
    let rubygems = given("rubygems", &package.required_rubygems);
    let expected: Vec<_> = [Some("checksum"), ruby, rubygems, Some("created_at")].into_iter().flatten().collect();
    assert_eq!(keys, expected);

    let change = versions::line(&package.name, versions::Op::Push, number, platform, "md5");
    assert!(safe(&change) && change.split(' ').collect::<Vec<_>>() == [package.name.as_str(), slug, "md5"]);
    assert!(!slug.contains(',') && !slug.starts_with('-'), "{slug:?}");
}

/// Printable ASCII in one line.
fn safe(line: &str) -> bool {
    line.bytes().all(|byte| (b' '..=b'~').contains(&byte))
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::none());
    gzip.write_all(bytes).expect("into memory");
    gzip.finish().expect("into memory")
}

fn sums(metadata: &[u8]) -> Vec<u8> {
    let hex = |bytes: &[u8]| Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    packed(format!("SHA256:\n  metadata.gz: '{}'\n  data.tar.gz: '{}'\n", hex(metadata), hex(b"")).as_bytes())
}

/// A file with this gemspec and these checksums.
fn with(metadata: &[u8], checksums: &[u8]) -> Vec<u8> {
    around(&[("metadata.gz", metadata), ("data.tar.gz", b""), ("checksums.yaml.gz", checksums)])
}

/// An archive of correct headers around these members.
fn around(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, bytes) in members {
        let mut header = [0; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[124..136].copy_from_slice(format!("{:011o}\0", bytes.len()).as_bytes());
        header[148..156].fill(b' ');
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend_from_slice(&header);
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}
