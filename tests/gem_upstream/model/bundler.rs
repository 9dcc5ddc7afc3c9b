//! A client that stores files as Bundler does (`CompactIndexClient`): it requests the continuation of its `/versions`,
//! verifies it, and requests the `/info` of a gem if the MD5 in `/versions` is not that of its file.

use super::pool::NAMES;
use crate::world::{Answer, Sum, sums};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use format::gem::info::md5_hex;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

/// A stored file and its ETag.
#[derive(Debug, Clone)]
pub(super) struct Kept {
    pub(super) bytes: Vec<u8>,
    pub(super) etag: String,
}

/// The files of a client.
#[derive(Debug, Default)]
pub(super) struct Bundler {
    pub(super) versions: Option<Kept>,
    pub(super) infos: HashMap<usize, Kept>,
}

impl Kept {
    /// The request headers with this stored file.
    pub(super) fn conditions(kept: Option<&Self>) -> Vec<(&'static str, String)> {
        let Some(Self { bytes, etag }) = kept else { return Vec::new() };
        vec![("Range", format!("bytes={}-", bytes.len() - 1)), ("If-None-Match", etag.clone())]
    }

    /// The file after a successful answer.
    #[track_caller]
    pub(super) fn after(kept: Option<&Self>, answer: &Answer) -> Self {
        let bytes = match answer.status {
            200 => answer.body.clone(),
            206 => {
                let kept = kept.unwrap();
                let first = kept.bytes.len() - 1;
                let said = answer.header("content-range").unwrap();
                assert!(said.starts_with(&format!("bytes {first}-")), "{said}");
                assert_eq!(answer.body.first(), kept.bytes.last(), "a part that does not continue the file");
                [&kept.bytes[..first], &answer.body].concat()
            }
            304 => {
                let kept = kept.unwrap().clone();
                assert!(answer.header("etag").is_none_or(|etag| etag == kept.etag), "unchanged, with another tag");
                return kept;
            }
            other => panic!("{other} is no success"),
        };
        let etag = answer.header("etag").unwrap().to_owned();
        assert_eq!(etag.trim_matches('"'), md5_hex(&bytes), "{}", String::from_utf8_lossy(&bytes));
        let digest = format!("sha-256=:{}:", STANDARD.encode(Sha256::digest(&bytes)));
        assert_eq!(
            answer.header("repr-digest"),
            Some(&*digest),
            "the joined file does not have the digest in the header"
        );
        Self { bytes, etag }
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.bytes).unwrap()
    }
}

/// The lines of `/info`.
#[track_caller]
pub(super) fn lines(text: &str) -> Vec<&str> {
    let lines = text.strip_prefix("---\n").unwrap();
    assert!(lines.is_empty() || lines.ends_with('\n'), "{text:?} ends within a line");
    lines.lines().collect()
}

/// The version of a line, and its checksum.
#[track_caller]
pub(super) fn version(line: &str) -> (&str, &str) {
    let (token, rest) = line.split_once(' ').unwrap();
    (token, &rest.split_once("checksum:").unwrap().1[..64])
}

impl Bundler {
    /// The state of a gem in its `/versions`; `None`: it is not listed.
    pub(super) fn said(&self, name: usize) -> Option<Sum> {
        sums(self.versions.as_ref()?.text(), false).remove(NAMES[name])
    }

    /// Whether it requests the `/info` of a gem.
    pub(super) fn asks_for(&self, name: usize) -> bool {
        let Some(said) = self.said(name) else { return false };
        self.infos.get(&name).is_none_or(|kept| md5_hex(&kept.bytes) != said.md5)
    }
}
