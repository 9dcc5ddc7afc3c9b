//! A controllable upstream of gems on loopback: two states of a small index, and the files that belong to them.

use super::shelf::good;
use crate::world::{Gem, Parts, Upstream, hex};
use format::gem::info::md5_hex;
use sha2::{Digest, Sha256};

/// The `/info` of the gem that gains a version.
pub(super) const INFO: &str = "info/lamp";
pub(super) const GEM: &str = "gems/lamp-2.0.0.gem";

/// The content of the upstream.
pub(super) struct State {
    pub(super) versions: String,
    pub(super) info: String,
}

/// The package of a version of `lamp`.
pub(super) fn package(version: &str) -> Vec<u8> {
    Gem::new("lamp", version).bytes()
}

/// The `/info` line of a version whose package has these bytes.
pub(super) fn line(version: &str, package: &[u8]) -> String {
    format!("{version} |checksum:{}\n", hex(&Sha256::digest(package)))
}

impl State {
    /// Four gems, and the first version of `lamp`.
    pub(super) fn first() -> Self {
        let info = format!("---\n{}", line("1.0.0", &package("1.0.0")));
        let other = |name: &str| format!("{name} 1.0.0 {}\n", md5_hex(b"---\n1.0.0 |\n"));
        let others: String = ["oil", "wick", "glass"].into_iter().map(other).collect();
        let lamp = format!("lamp 1.0.0 {}\n", md5_hex(info.as_bytes()));
        Self { versions: format!("created_at: 2026-11-01T00:00:00Z\n---\n{others}{lamp}"), info }
    }

    /// The second version too.
    pub(super) fn second() -> Self {
        let Self { versions, info } = Self::first();
        let info = info + &line("2.0.0", &package("2.0.0"));
        let versions = versions + &format!("lamp 2.0.0 {}\n", md5_hex(info.as_bytes()));
        Self { versions, info }
    }

    /// Makes an upstream serve it as gem servers do: with digests and ranges.
    pub(super) fn on(&self, upstream: &Upstream) {
        upstream.says("/versions", good(&self.versions).parts(Parts::Right));
        upstream.says("/info/lamp", good(&self.info));
        for version in ["1.0.0", "2.0.0"].iter().filter(|version| self.info.contains(**version)) {
            upstream.file(&format!("/gems/lamp-{version}.gem"), package(version));
        }
    }
}
