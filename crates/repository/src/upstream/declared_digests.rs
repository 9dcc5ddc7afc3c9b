//! The digests that an upstream declares for a file, and their comparison with the received bytes.

use crate::content::digits;
use client::Arriving;
use format::tree::Checksum;
use std::fmt;
use std::sync::Arc;
use store::{Digest, Hashes, MoreDigests};

/// Prefixes of the headers in which servers declare digests, as build tools look for them
/// (`aether.connector.basic.includedChecksums`).
const PREFIXES: [&str; 3] = ["x-checksum-", "x-goog-meta-checksum-", "x-amz-meta-checksum-"];

/// The declared digests, in lower-case hexadecimal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct DeclaredDigests(Vec<(Checksum, String)>);

/// A declared digest differs from that of the received bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DigestMismatch {
    pub(crate) checksum: Checksum,
    pub(crate) said: String,
    pub(crate) is: String,
}

impl DeclaredDigests {
    /// The digests in the head of a response.
    pub(crate) fn of(answer: &Arriving) -> Self {
        Self::read(|name| answer.header(name))
    }

    fn read<'a>(header: impl Fn(&str) -> Option<&'a str>) -> Self {
        let said = |checksum: Checksum| {
            let names = PREFIXES.iter().map(|prefix| format!("{prefix}{}", checksum.ending()));
            let text = names.filter_map(|name| header(&name)).next()?;
            Some((checksum, checksum.read(text.as_bytes())?))
        };
        let mut claims: Vec<_> = Checksum::ALL.into_iter().filter_map(said).collect();
        // Nexus 2 puts it into the ETag.
        let tagged =
            header("etag").and_then(|tag| tag.split_once("{SHA1{")).and_then(|(_, rest)| rest.split_once("}}"));
        if let Some(sha1) = tagged.and_then(|(text, _)| Checksum::Sha1.read(text.as_bytes())) {
            claims.push((Checksum::Sha1, sha1));
        }
        // These are made of each file, and each of them proves its bytes. The others take more time than both together.
        let is_made = |(checksum, _): &(Checksum, String)| matches!(checksum, Checksum::Sha1 | Checksum::Sha256);
        if claims.iter().any(is_made) {
            claims.retain(is_made);
        }
        Self(claims)
    }

    /// The digests that the bytes need for the comparison, besides SHA-256 and SHA-1.
    pub(crate) fn more(&self) -> MoreDigests {
        let has = |wanted: Checksum| self.0.iter().any(|(checksum, _)| *checksum == wanted);
        MoreDigests { md5: has(Checksum::Md5), sha512: has(Checksum::Sha512) }
    }

    /// The digest in an index of the upstream.
    pub(crate) fn indexed(sha256: Digest) -> Self {
        Self(vec![(Checksum::Sha256, sha256.to_string())])
    }

    /// A digest of any algorithm in an index of the upstream, in lower-case hexadecimal.
    pub(crate) fn said(checksum: Checksum, digest: String) -> Self {
        Self(vec![(checksum, digest)])
    }

    /// The digest in a checksum file.
    pub(crate) fn beside(checksum: Checksum, body: &[u8]) -> Self {
        Self(checksum.read(body).into_iter().map(|digest| (checksum, digest)).collect())
    }

    /// The declared digests, for clients that receive the file before it is verified.
    pub(crate) fn promised(&self) -> Arc<[(Checksum, String)]> {
        self.0.as_slice().into()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all declared digests are those of the received bytes. A digest that was not made is not.
    pub(crate) fn check(&self, hashes: &Hashes) -> Result<(), DigestMismatch> {
        for (checksum, said) in &self.0 {
            let is = digits(hashes, *checksum).unwrap_or_default();
            if is != *said {
                return Err(DigestMismatch { checksum: *checksum, said: said.clone(), is });
            }
        }
        Ok(())
    }
}

impl fmt::Display for DeclaredDigests {
    /// `sha1:da39a3ee...`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(checksum, digest)| write!(f, "{}:{digest}", checksum.ending()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claims(headers: &[(&str, &str)]) -> DeclaredDigests {
        DeclaredDigests::read(|name| headers.iter().find(|(found, _)| *found == name).map(|(_, value)| *value))
    }

    #[test]
    fn digests_are_read_from_every_header_that_servers_say_them_in() {
        let hashes = Hashes::of(b"lamp");
        let nexus = format!("\"{{SHA1{{{}}}}}\"", hashes.sha1);
        for (name, value) in [
            ("x-checksum-sha1", hashes.sha1.as_str()),
            ("x-checksum-sha512", hashes.sha512.as_deref().unwrap()),
            ("x-goog-meta-checksum-md5", hashes.md5.as_deref().unwrap()),
            ("x-amz-meta-checksum-sha256", &hashes.sha256.to_string().to_uppercase()),
            ("etag", &nexus),
        ] {
            let claims = claims(&[(name, value)]);
            assert!(!claims.is_empty() && claims.check(&hashes).is_ok(), "{name}");
            assert!(claims.check(&Hashes::of(b"lump")).is_err(), "{name}");
        }
        assert!(claims(&[("etag", "\"5d41402abc4b2a76b9719d911017c592\""), ("x-checksum-sha1", "no")]).is_empty());
    }

    #[test]
    fn all_that_is_said_and_made_must_be_so() {
        let (hashes, zeros) = (Hashes::of(b"lamp"), "0".repeat(64));
        let wrong = claims(&[("x-checksum-sha1", &hashes.sha1), ("x-checksum-sha256", &zeros)]);
        let differs = wrong.check(&hashes).unwrap_err();
        assert_eq!((differs.checksum, differs.is), (Checksum::Sha256, hashes.sha256.to_string()));
        let (md5, sha512) =
            (("x-checksum-md5", &zeros[..32]), ("x-checksum-sha512", hashes.sha512.as_deref().unwrap()));
        let enough = claims(&[("x-checksum-sha1", &hashes.sha1), md5, sha512]);
        assert_eq!((enough.more(), enough.promised().len()), (MoreDigests::default(), 1), "SHA-1 proves the bytes");
        assert!(enough.check(&Hashes::with(b"lamp", enough.more())).is_ok());
        let alone = claims(&[md5, sha512]);
        assert_eq!(alone.more(), MoreDigests::ALL);
        assert_eq!(alone.check(&hashes).unwrap_err().checksum, Checksum::Md5);
        assert!(claims(&[sha512]).check(&Hashes::with(b"lamp", MoreDigests::default())).is_err(), "it was not made");
        assert!(
            DeclaredDigests::beside(Checksum::Sha1, format!("{}  lamp", hashes.sha1).as_bytes()).check(&hashes).is_ok()
        );
        assert!(DeclaredDigests::beside(Checksum::Sha1, b"<html>").is_empty());
    }
}
