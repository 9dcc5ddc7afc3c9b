//! The digests in a response: `Repr-Digest` (RFC 9530), the older `Digest` (RFC 3230), and an `ETag` that is an MD5.
//!
//! Gem servers send the digests of the file before any encoding, contrary to the RFC, because clients verify after
//! decoding.

use super::checksum::base64;
use super::kept::Kept;
use super::refusal::Refusal;
use super::response::Response;
use crate::gem::package::hex;

/// The digest that verified a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verified {
    /// A SHA-256.
    Sha256,
    /// An MD5.
    Md5,
    /// None: the upstream sends no digest. Only the length and the end of the last line were checked.
    Unverified,
}

/// The digests in a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Digests {
    repr_digest: Option<[u8; 32]>,
    digest: Option<[u8; 32]>,
    digest_md5: Option<[u8; 16]>,
    etag: Option<[u8; 16]>,
}

impl Digests {
    /// Reads the headers. A value of a wrong length is ignored. `opaque_etags`: the ETags of this upstream are known
    /// not to be MD5s.
    pub(super) fn announced(response: &Response<'_>, opaque_etags: bool) -> Self {
        Self {
            repr_digest: response.repr_digest.and_then(|text| field(text, "sha-256")),
            digest: response.digest.and_then(|text| field(text, "sha-256")),
            digest_md5: response.digest.and_then(|text| field(text, "md5")),
            etag: response.etag.filter(|_| !opaque_etags).and_then(etag),
        }
    }

    /// Whether there is any digest.
    pub(super) fn any(&self) -> bool {
        *self != Self::default()
    }

    /// The MD5 and the SHA-256 that the file must have.
    pub(super) fn promised(&self) -> (Option<String>, Option<[u8; 32]>) {
        (self.digest_md5.or(self.etag).map(|md5| hex(&md5)), self.repr_digest.or(self.digest))
    }

    /// Compares the file with all of them. An ETag counts only if there is no other digest.
    pub(super) fn verify(&self, file: &Kept) -> Result<Verified, Refusal> {
        let sha256 = file.sha256();
        for (announced, header) in [(self.repr_digest, "Repr-Digest"), (self.digest, "Digest")] {
            if announced.is_some_and(|announced| announced != sha256) {
                return Err(Refusal::Digest(header));
            }
        }
        if self.digest_md5.is_some_and(|announced| announced != file.md5()) {
            return Err(Refusal::Digest("Digest"));
        }
        if self.repr_digest.or(self.digest).is_some() {
            return Ok(Verified::Sha256);
        }
        match self.etag {
            Some(announced) if announced == file.md5() => Ok(Verified::Md5),
            _ if self.digest_md5.is_some() => Ok(Verified::Md5),
            Some(_) => Err(Refusal::Etag { sha256 }),
            None => Ok(Verified::Unverified),
        }
    }
}

/// The value of a digest: `sha-256=:B64:` by the RFC, `sha-256="B64"` as the CDN of the public registry sends it, and
/// `sha-256=B64`.
fn field<const N: usize>(text: &str, wanted: &str) -> Option<[u8; N]> {
    text.split(',').find_map(|part| {
        let (key, value) = part.trim().split_once('=')?;
        let value = key.eq_ignore_ascii_case(wanted).then(|| value.trim_matches([':', '"', ' ']))?;
        base64(value)?.try_into().ok()
    })
}

/// An ETag that may be an MD5, weak or not: Bundler since 1.12.6 strips `W/` too.
fn etag(text: &str) -> Option<[u8; 16]> {
    let text = text.trim();
    let text = text.strip_prefix("W/").unwrap_or(text).trim_matches('"');
    super::checksum::hexadecimal(text)
}
