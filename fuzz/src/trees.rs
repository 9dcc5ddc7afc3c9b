//! Trees of files: paths, and the documents of Maven.

use super::text;
use format::maven::metadata::{self, Metadata};
use format::maven::path::{self, Kind};
use format::maven::pom::Pom;
use format::maven::prefixes::Prefixes;
use format::maven::settings::{self, Use};
use format::maven::tracking::Tracking;
use format::maven::{Version, catalog, snapshot};
use format::tree::{self, Checksum};

/// A path: its parsed parts are in it, and render to the same path. A query is sent unchanged behind it.
pub(crate) fn tree(bytes: &[u8]) {
    if let Some((path, Some(query))) = text(bytes).map(tree::split_query)
        && tree::check_raw(path).is_ok()
        && tree::is_query(query)
    {
        let sent = client::escaped(&format!("{path}?{query}"));
        assert_eq!(sent.split_once('?'), Some((&*client::escaped(path), query)));
    }
    let Some(whole) = text(bytes).filter(|path| tree::check_raw(path).is_ok()) else { return };
    assert!(whole.split('/').all(|name| !matches!(name, "" | "." | "..")) && !whole.contains('\0'));
    assert!(whole.starts_with(path::unit(whole)) && !path::unit(whole).ends_with('/'));
    sent_upstream(whole);
    let Some(read) = path::read(whole) else {
        assert!(!path::lasting(whole));
        return;
    };
    let ending = read.checksum.map(|checksum| format!(".{}", checksum.ending())).unwrap_or_default();
    assert_eq!(format!("{}{ending}", read.file), whole);
    let Kind::Artifact(artifact) = read.kind else {
        assert!(!path::lasting(whole));
        return;
    };
    let folder = format!("{}/{}/{}", artifact.group, artifact.artifact, artifact.version);
    assert_eq!(tree::folder(whole), folder);
    let classifier = artifact.classifier.map(|classifier| format!("-{classifier}")).unwrap_or_default();
    let dot = if artifact.extension.is_empty() { "" } else { "." };
    let name = format!("-{}{classifier}{dot}{}", artifact.file_version, artifact.extension);
    assert!(read.file.ends_with(&name), "{read:?}");
    if let Some(build) = artifact.build {
        assert_eq!(snapshot::expanded(artifact.version, build).as_deref(), Some(artifact.file_version));
        assert_eq!(snapshot::build_of(artifact.version, artifact.file_version), Some(build));
        assert_eq!(snapshot::base(artifact.file_version), artifact.version);
    }
    assert_eq!(path::lasting(whole), !artifact.snapshot() || artifact.build.is_some());
}

/// A path that may be requested from an upstream: a server that decodes it twice, or drops parameters or a fragment, reads a
/// Maven path as the same path, with the same coordinates; and no such server reads it as a path outside its folder.
pub(super) fn sent_upstream(path: &str) {
    let sent = client::escaped(path);
    assert!(sent.is_ascii() && !sent.contains([';', '#', '?', '\\', '\'']) && sent.split('/').all(|name| name != ".."));
    let once = decoded(sent.as_bytes());
    assert_eq!(once, path.as_bytes(), "a server that decodes once has the path");
    let twice = decoded(&once);
    let maven = !tree::is_ambiguous(path);
    assert!(maven || path::read(path).is_none() && path::version_of(path).is_none());
    if tree::may_leave_its_folder(path) {
        return;
    }
    for read in [once, twice.clone(), decoded(&twice)] {
        let cut = without_parameters(&read);
        for read in [&read, &cut] {
            assert!(!maven || read == path.as_bytes(), "{sent}");
            assert!(read.split(|byte| *byte == b'/').all(|name| !matches!(name, b"." | b"..")), "{sent}");
        }
    }
}

/// The escapes of a path, decoded as a server does. Invalid ones stay unchanged.
fn decoded(path: &[u8]) -> Vec<u8> {
    let (mut out, mut rest) = (Vec::new(), path);
    while let [first, after @ ..] = rest {
        let digit = |at: usize| after.get(at).and_then(|byte| char::from(*byte).to_digit(16));
        match digit(0).zip(digit(1)).filter(|_| *first == b'%') {
            Some((high, low)) => {
                out.push((16 * high + low) as u8);
                rest = &after[2..];
            }
            None => {
                out.push(*first);
                rest = after;
            }
        }
    }
    out
}

/// A path without the text after a `;` in each name, and after a `#` or a `?`.
fn without_parameters(path: &[u8]) -> Vec<u8> {
    let end = path.iter().position(|byte| matches!(byte, b'#' | b'?')).unwrap_or(path.len());
    let names = path[..end].split(|byte| *byte == b'/');
    let names: Vec<&[u8]> = names.map(|name| name.split(|byte| *byte == b';').next().unwrap_or_default()).collect();
    names.join(&b'/')
}

/// Three versions, one per line: their order is total.
pub(crate) fn order(bytes: &[u8]) {
    let Some(text) = text(bytes) else { return };
    let mut versions: Vec<_> = text.lines().take(3).map(Version::new).collect();
    for a in &versions {
        for b in &versions {
            assert_eq!(a.cmp(b), b.cmp(a).reverse());
        }
    }
    versions.sort();
    assert!(versions.first() <= versions.last());
}

/// `maven-metadata.xml`: the rendered document is parsed to the same, and merging it with itself changes nothing.
pub(crate) fn metadata(bytes: &[u8]) {
    let Ok(read) = Metadata::read(bytes) else { return };
    let read = Metadata { undeclared: false, ..read };
    assert_eq!(Metadata::read(read.render().as_bytes()).as_ref(), Ok(&read));
    let merged = metadata::merge([&read, &read]);
    assert_eq!(metadata::merge([&merged]), merged);
    assert!(read.versions.iter().all(|version| merged.versions.contains(version)));
    assert!(merged.versions.iter().all(|version| tree::check(version).is_ok() && !version.contains('/')));
}

/// A POM: its coordinates can be parts of a path.
pub(crate) fn pom(bytes: &[u8]) {
    let Ok(pom) = Pom::read(bytes) else { return };
    for said in [&pom.group, &pom.artifact, &pom.version].into_iter().flatten().chain([&pom.packaging]) {
        assert!(tree::check(said).is_ok() && !said.contains('/'), "{said:?}");
    }
    if let Some(plugin) = pom.plugin() {
        let made = metadata::plugins([plugin]);
        assert_eq!(Metadata::read(made.render().as_bytes()).map(|read| read.plugins.len() <= 1), Ok(true));
    }
}

/// A user's settings file: settings that were added to it are not added again.
pub(crate) fn settings(bytes: &[u8]) {
    let offered = settings::render("maven", "https://packages.example/repository/maven/", Use::Instead);
    let bytes = &bytes[..bytes.len().min(1 << 16)];
    let Ok(merged) = settings::merge(bytes, &offered) else { return };
    assert!(merged.bytes.len() >= bytes.len());
    let again = settings::merge(&merged.bytes, &offered).expect("a settings file");
    assert!(again.added.is_empty() && again.bytes == merged.bytes);
}

/// `archetype-catalog.xml`: the rendered document is parsed to the same.
pub(crate) fn catalog(bytes: &[u8]) {
    let Ok(read) = catalog::read(bytes) else { return };
    let written = catalog::render(read);
    let again = catalog::read(written.as_bytes()).expect("the rendered document");
    assert_eq!(catalog::render(again), written);
}

/// `prefixes.txt`: a list excludes no folder that one of its lines has.
pub(crate) fn prefixes(bytes: &[u8]) {
    let (Some(read), Some(text)) = (Prefixes::read(bytes), text(bytes)) else { return };
    for line in text.lines().skip(1).map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let prefix = line.strip_prefix('/').unwrap_or(line).trim_end_matches('/');
        assert!(!read.exclude(prefix) && !read.exclude(&format!("{prefix}/x")), "{line}");
    }
}

/// A checksum file: a digest that is found has the right form, and is in the file.
pub(crate) fn checksum(bytes: &[u8]) {
    for checksum in Checksum::ALL {
        let Some(digest) = checksum.read(bytes) else { continue };
        assert_eq!(digest.len(), checksum.digits());
        assert!(text(bytes).is_none_or(|text| text.to_ascii_lowercase().contains(&digest)));
        assert_eq!(checksum.read(digest.as_bytes()), Some(digest));
    }
}

/// `_remote.repositories`: lines in another order say the same, and more lines never say less.
pub(crate) fn tracking(bytes: &[u8]) {
    let read = Tracking::read(bytes);
    assert!(read.downloaded.iter().all(|id| !id.is_empty() && !id.contains(['\n', '>'])));
    let mut lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    lines.reverse();
    assert_eq!(Tracking::read(&lines.join(&b'\n')), read);
    let more = Tracking::read(&[bytes, b"\nlamp-1.0.jar>=\nlamp-1.0.pom>central="].concat());
    assert!(more.installed && more.downloaded.contains("central") && more.downloaded.is_superset(&read.downloaded));
}
