//! What a write means: its digests, its conditions, and everything else in a request that could change it.

mod build_clients;
mod by_digest;
mod conditions;
mod digests;
mod early_checksums;
mod meanings;

use crate::world::{Answer, Person, World, hex};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use md5::Md5;
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha512};

pub(crate) const JAR: &str = "org/example/lamp/1.0/lamp-1.0.jar";

/// A server with a hosted repository of each format that takes files.
pub(crate) fn world() -> World {
    let world = World::start();
    world.tree("tools", "raw");
    world.tree("releases", "maven");
    world
}

pub(crate) fn md5(bytes: &[u8]) -> String {
    hex(&Md5::digest(bytes))
}

pub(crate) fn sha1(bytes: &[u8]) -> String {
    hex(&Sha1::digest(bytes))
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Every header that names the bytes, with its value for these.
pub(crate) fn declarations(bytes: &[u8]) -> Vec<(&'static str, String)> {
    let base64 = |digest: &[u8]| STANDARD.encode(digest);
    let (md5_64, sha1_64) = (base64(&Md5::digest(bytes)), base64(&Sha1::digest(bytes)));
    let (sha256_64, sha512_64) = (base64(&Sha256::digest(bytes)), base64(&Sha512::digest(bytes)));
    vec![
        ("X-Checksum-Md5", md5(bytes)),
        ("X-Checksum-Sha1", sha1(bytes)),
        ("X-Checksum-Sha256", sha256(bytes)),
        ("X-Checksum-Sha512", hex(&Sha512::digest(bytes))),
        ("X-Checksum", sha1(bytes)),
        ("Content-MD5", md5_64.clone()),
        ("Digest", format!("SHA-256={sha256_64}")),
        ("Digest", format!("SHA={sha1_64}, MD5={md5_64}")),
        ("Repr-Digest", format!("sha-256=:{sha256_64}:")),
        ("Content-Digest", format!("sha-512=:{sha512_64}:")),
        ("OC-Checksum", format!("SHA1:{}", sha1(bytes))),
        ("X-Amz-Content-Sha256", sha256(bytes)),
        ("X-Amz-Checksum-Sha256", sha256_64),
        ("X-Goog-Hash", format!("md5={md5_64}")),
    ]
}

/// Uploads a file with these headers.
pub(crate) fn put(person: &Person, at: &str, headers: &[(&str, &str)], bytes: &[u8]) -> Answer {
    person.ask("PUT", &format!("/repository/{at}"), headers, bytes)
}
