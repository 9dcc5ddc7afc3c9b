//! Packages built byte by byte, with members and headers that no `gem build` writes.

use crate::world::hex;
use flate2::{Compress, Compression, FlushCompress, write::GzEncoder};
use sha2::{Digest as _, Sha256};
use std::io::Write as _;

/// The members of a gem, by name.
pub(crate) type Members<'a> = Vec<(&'a str, Vec<u8>)>;

/// A valid gemspec with these lines. A line replaces the one with the same beginning, or is appended.
pub(crate) fn spec(lines: &str) -> String {
    let fine = "name: lamp\nversion: !ruby/object:Gem::Version\n  version: '2.0.0'\nplatform: ruby\nauthors: [Ann]\n\
                summary: A lamp\ncert_chain: []\ndependencies: []\nmetadata: {}\nrubygems_version: 3.3.15\n\
                specification_version: 4\n";
    let key = |line: &str| line.split(':').next().unwrap().to_owned();
    let top = |line: &&str| line.starts_with(|c: char| c.is_ascii_lowercase());
    let replaced: Vec<String> = lines.lines().filter(top).map(key).collect();
    let mut text = "--- !ruby/object:Gem::Specification\n".to_owned();
    let mut kept = true;
    for line in fine.lines() {
        kept = if top(&line) { !replaced.contains(&key(line)) } else { kept };
        if kept {
            text += &format!("{line}\n");
        }
    }
    text + lines + "\n"
}

/// Compresses.
pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(bytes).unwrap();
    gzip.finish().unwrap()
}

/// A gzip file that unpacks to `mib` MiB of zeros. It has a thousandth of that size, and is made at once.
pub(crate) fn bomb(mib: usize) -> Vec<u8> {
    let mut deflate = Compress::new(Compression::best(), false);
    let mut one = Vec::with_capacity(64 << 10);
    deflate.compress_vec(&vec![0; 1 << 20], &mut one, FlushCompress::Full).unwrap();
    let mut bytes = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    bytes.extend(one.repeat(mib));
    bytes.extend(b"\x03\0");
    bytes.extend([0; 8]);
    bytes
}

/// The members of a gem around this gemspec.
pub(crate) fn members(spec: &str) -> Members<'static> {
    packed(gzip(spec.as_bytes()), gzip(&archive(&[header("lib/lamp.rb", 0)], &[&[]])))
}

/// The members of a gem with these two, and right checksums.
pub(crate) fn packed(metadata: Vec<u8>, data: Vec<u8>) -> Members<'static> {
    let sum = |bytes: &[u8]| hex(&Sha256::digest(bytes));
    let sums = format!("---\nSHA256:\n  metadata.gz: {}\n  data.tar.gz: {}\n", sum(&metadata), sum(&data));
    vec![("metadata.gz", metadata), ("data.tar.gz", data), ("checksums.yaml.gz", gzip(sums.as_bytes()))]
}

/// The file of these members.
pub(crate) fn package(members: &Members<'_>) -> Vec<u8> {
    let headers: Vec<_> = members.iter().map(|(name, bytes)| header(name, bytes.len() as u64)).collect();
    archive(&headers, &members.iter().map(|(_, bytes)| bytes.as_slice()).collect::<Vec<_>>())
}

/// The file of a gem with a valid gemspec and these lines.
pub(crate) fn gem(lines: &str) -> Vec<u8> {
    package(&members(&spec(lines)))
}

/// The file of a valid gem with a changed first header.
pub(crate) fn with_header(change: impl FnOnce(&mut tar::Header)) -> Vec<u8> {
    let members = members(&spec(""));
    let mut headers: Vec<_> = members.iter().map(|(name, bytes)| header(name, bytes.len() as u64)).collect();
    change(&mut headers[0]);
    headers[0].set_cksum();
    archive(&headers, &members.iter().map(|(_, bytes)| bytes.as_slice()).collect::<Vec<_>>())
}

/// A header of a regular file.
pub(crate) fn header(name: &str, size: u64) -> tar::Header {
    let mut header = tar::Header::new_ustar();
    header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
    header.set_mode(0o444);
    header.set_size(size);
    header.set_entry_type(tar::EntryType::Regular);
    header.set_cksum();
    header
}

/// An archive whose headers may be wrong.
pub(crate) fn archive(headers: &[tar::Header], contents: &[&[u8]]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (header, bytes) in headers.iter().zip(contents) {
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}
