//! Changes of an upstream's index, and their effects.

mod index;
mod info;
mod look;
mod model;

use super::Versions;
use bytes::Bytes;

const MD5: &str = "0123456789abcdef0123456789abcdef";
const OTHER: &str = "ffffffffffffffffffffffffffffffff";

/// A file with these lines.
fn versions(lines: &[&str]) -> Versions {
    let mut versions = Versions::new();
    versions.push(Bytes::from(body(lines))).unwrap();
    versions
}

fn body(lines: &[&str]) -> Vec<u8> {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    format!("created_at: 2026-11-01T00:00:00Z\n---\n{lines}").into()
}
