//! The digests that the headers of an upload declare, and their comparison with the bytes that arrived.
//!
//! There are those of HTTP (`Content-Digest`, `Repr-Digest`: RFC 9530; `Digest`: RFC 3230; `Content-MD5`: RFC 1864), of Artifactory
//! (`X-Checksum-Sha1`) and of object stores. Unknown algorithms are ignored, as the standards require; a digest of a known one that
//! cannot be read is refused, because its bytes would be stored unchecked.

use crate::upload::write_refusal::WriteRefusal;
use base64::Engine;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use format::tree::Checksum;
use http::{HeaderMap, HeaderValue};
use repository::digits;
use std::fmt::Write as _;
use store::Hashes;

/// Some clients leave out the padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The headers, each with the form of its values.
pub(crate) const HEADERS: [(&str, Form); 17] = [
    ("content-digest", Form::Dictionary),
    ("repr-digest", Form::Dictionary),
    ("digest", Form::List),
    ("content-md5", Form::Base64(Checksum::Md5)),
    ("x-checksum", Form::Digits),
    ("x-checksum-md5", Form::Hexadecimal(Checksum::Md5)),
    ("x-checksum-sha1", Form::Hexadecimal(Checksum::Sha1)),
    ("x-checksum-sha256", Form::Hexadecimal(Checksum::Sha256)),
    ("x-checksum-sha512", Form::Hexadecimal(Checksum::Sha512)),
    ("oc-checksum", Form::Named),
    ("x-amz-content-sha256", Form::Payload),
    ("x-amz-checksum-sha1", Form::Base64(Checksum::Sha1)),
    ("x-amz-checksum-sha256", Form::Base64(Checksum::Sha256)),
    ("x-amz-checksum-sha512", Form::Base64(Checksum::Sha512)),
    ("x-amz-checksum-md5", Form::Base64(Checksum::Md5)),
    ("x-goog-hash", Form::List),
    ("x-ms-blob-content-md5", Form::Base64(Checksum::Md5)),
];

/// The form of a header's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Hexadecimal digits of this algorithm.
    Hexadecimal(Checksum),
    /// Hexadecimal digits, whose number tells the algorithm.
    Digits,
    /// Base64.
    Base64(Checksum),
    /// `SHA-256=BASE64,MD5=BASE64`.
    List,
    /// `sha-256=:BASE64:, sha-512=:BASE64:` (RFC 8941, 3.2).
    Dictionary,
    /// `SHA1:HEXADECIMAL`, as ownCloud sends it.
    Named,
    /// Hexadecimal digits of SHA-256, or a word in capitals (S3).
    Payload,
}

/// The digests that the headers of an upload declare.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UploadDigests(Vec<DeclaredDigest>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct DeclaredDigest {
    header: &'static str,
    checksum: Checksum,
    /// In lower-case hexadecimal.
    digits: String,
}

impl UploadDigests {
    /// Reads the headers of an upload.
    pub fn read(headers: &HeaderMap) -> Result<Self, WriteRefusal> {
        let mut declared = Vec::new();
        for (header, form) in HEADERS {
            for value in headers.get_all(header) {
                let malformed = || WriteRefusal::MalformedDigest { header, value: value.clone() };
                let digests = read(form, value).ok_or_else(malformed)?;
                declared.extend(digests.into_iter().map(|(checksum, digits)| DeclaredDigest {
                    header,
                    checksum,
                    digits,
                }));
            }
        }
        Ok(Self(declared))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one is of the body as it is sent. In a form, others are of the file in it.
    pub(crate) fn any_of_body(&self) -> bool {
        self.0.iter().any(DeclaredDigest::is_of_body)
    }

    /// The digests without their headers.
    pub(crate) fn digests(&self) -> Vec<(Checksum, String)> {
        self.0.iter().map(|one| (one.checksum, one.digits.clone())).collect()
    }

    /// Refuses an upload whose bytes do not have all these digests. `body` is the form that the file arrived in.
    pub fn check(&self, file: &Hashes, body: Option<&Hashes>) -> Result<(), WriteRefusal> {
        for one in &self.0 {
            let is = digits(body.filter(|_| one.is_of_body()).unwrap_or(file), one.checksum).unwrap_or_default();
            if is != one.digits {
                let (header, checksum, said) = (one.header, one.checksum, one.digits.clone());
                return Err(WriteRefusal::DigestDiffers { header, checksum, said, is });
            }
        }
        Ok(())
    }
}

impl DeclaredDigest {
    fn is_of_body(&self) -> bool {
        !self.header.starts_with("x-checksum")
    }
}

/// The digests in a value, of known algorithms; `None`: one cannot be read.
fn read(form: Form, value: &HeaderValue) -> Option<Vec<(Checksum, String)>> {
    let text = value.to_str().ok()?.trim();
    let one = |checksum, digits: Option<String>| Some(vec![(checksum, digits?)]);
    match form {
        Form::Hexadecimal(checksum) => one(checksum, hexadecimal(checksum, text)),
        Form::Digits => {
            let checksum = Checksum::ALL.into_iter().find(|checksum| checksum.digits() == text.len())?;
            one(checksum, hexadecimal(checksum, text))
        }
        Form::Base64(checksum) => one(checksum, base64(checksum, text)),
        Form::Payload => match text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'-') && !text.is_empty() {
            true => Some(Vec::new()),
            false => one(Checksum::Sha256, hexadecimal(Checksum::Sha256, text)),
        },
        Form::Named => {
            let (name, digits) = text.split_once(':')?;
            match named(name) {
                Some(checksum) => one(checksum, hexadecimal(checksum, digits)),
                None => Some(Vec::new()),
            }
        }
        Form::List => members(text, |value| value.split(';').next().unwrap_or(value).trim()),
        Form::Dictionary => members(text, |value| {
            let inner = value.strip_prefix(':').and_then(|rest| rest.split_once(':'));
            // Parameters may follow. Anything else than a byte sequence is no Base64 either.
            inner.map_or("?", |(inner, _)| inner)
        }),
    }
}

/// The members of a list of `NAME=VALUE` whose names are those of known algorithms. `inner` finds the Base64 in a value.
fn members(text: &str, inner: impl Fn(&str) -> &str) -> Option<Vec<(Checksum, String)>> {
    let mut found = Vec::new();
    for member in text.split(',').map(str::trim) {
        let (name, value) = member.split_once('=').unwrap_or((member, ""));
        if let Some(checksum) = named(name.trim()) {
            found.push((checksum, base64(checksum, inner(value.trim()))?));
        }
    }
    Some(found)
}

/// The algorithm of a name in the registries of RFC 3230 and RFC 9530, or as ownCloud writes it.
fn named(name: &str) -> Option<Checksum> {
    match name.to_ascii_lowercase().as_str() {
        "md5" => Some(Checksum::Md5),
        "sha" | "sha1" | "sha-1" => Some(Checksum::Sha1),
        "sha256" | "sha-256" => Some(Checksum::Sha256),
        "sha512" | "sha-512" => Some(Checksum::Sha512),
        _ => None,
    }
}

fn hexadecimal(checksum: Checksum, text: &str) -> Option<String> {
    let is = text.len() == checksum.digits() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is.then(|| text.to_ascii_lowercase())
}

fn base64(checksum: Checksum, text: &str) -> Option<String> {
    let bytes = BASE64.decode(text).ok().filter(|bytes| 2 * bytes.len() == checksum.digits())?;
    Some(bytes.iter().fold(String::new(), |mut digits, byte| {
        let _ = write!(digits, "{byte:02x}");
        digits
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::STANDARD_NO_PAD;

    fn digests(header: &'static str, value: &str) -> Result<UploadDigests, WriteRefusal> {
        UploadDigests::read(&HeaderMap::from_iter([(header.parse().unwrap(), value.parse().unwrap())]))
    }

    #[test]
    fn every_header_that_names_the_bytes_is_held_against_them() {
        let (lamp, lump) = (Hashes::of(b"lamp"), Hashes::of(b"lump"));
        let padded = |bytes: &[u8]| base64::engine::general_purpose::STANDARD.encode(bytes);
        let bytes = |digits: &str| data_encoding::HEXLOWER.decode(digits.as_bytes()).unwrap();
        let [md5, sha1, sha512] =
            [lamp.md5.as_ref().unwrap(), &lamp.sha1, lamp.sha512.as_ref().unwrap()].map(|digits| bytes(digits));
        for (header, value) in [
            ("content-digest", format!("sha-256=:{}:", padded(&lamp.sha256.0))),
            ("repr-digest", format!("unixsum=30637, sha-512=:{}:;a=1", padded(&sha512))),
            ("repr-digest", format!("x, sha=:{}:", padded(&sha1))),
            ("digest", format!("UNIXsum=30637,SHA={}, id-sha-256=x", padded(&sha1))),
            ("digest", format!("sha-256={}", STANDARD_NO_PAD.encode(lamp.sha256.0))),
            ("content-md5", padded(&md5)),
            ("x-checksum", lamp.md5.clone().unwrap()),
            ("x-checksum", lamp.sha256.to_string()),
            ("x-checksum-sha1", lamp.sha1.to_uppercase()),
            ("x-checksum-sha512", format!(" {}", lamp.sha512.as_ref().unwrap())),
            ("oc-checksum", format!("SHA1:{}", lamp.sha1)),
            ("x-amz-content-sha256", lamp.sha256.to_string()),
            ("x-amz-checksum-sha256", padded(&lamp.sha256.0)),
            ("x-goog-hash", format!("crc32c=n03x6A==,md5={}", padded(&md5))),
        ] {
            let declared = digests(header, &value).unwrap();
            assert!(!declared.is_empty() && declared.check(&lamp, None).is_ok(), "{header}: {value}");
            assert!(
                matches!(declared.check(&lump, None), Err(WriteRefusal::DigestDiffers { .. })),
                "{header}: {value}"
            );
            let in_form = declared.check(&lamp, Some(&lump)).is_ok();
            assert_eq!(in_form, !declared.any_of_body(), "{header}");
        }
    }

    #[test]
    fn unknown_algorithms_are_ignored_and_unreadable_digests_are_not() {
        for (header, value) in [
            ("digest", "UNIXsum=30637"),
            ("repr-digest", "crc32c=:AAAAAA==:, x"),
            ("oc-checksum", "Adler32:0"),
            ("x-amz-content-sha256", "UNSIGNED-PAYLOAD"),
            ("content-digest", ""),
        ] {
            assert_eq!(digests(header, value), Ok(UploadDigests::default()), "{header}: {value}");
        }
        for (header, value) in [
            ("x-checksum-sha1", ""),
            ("x-checksum-sha1", "d41d8cd98f00b204e9800998ecf8427e"),
            ("x-checksum-sha256", "sha256"),
            ("x-checksum", "0"),
            ("content-md5", "d41d8cd98f00b204e9800998ecf8427e"),
            ("content-digest", "sha-256=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="),
            ("content-digest", "sha-256"),
            ("digest", "MD5=?"),
            ("oc-checksum", "SHA1"),
            ("x-amz-content-sha256", "e3b0"),
        ] {
            assert!(matches!(digests(header, value), Err(WriteRefusal::MalformedDigest { .. })), "{header}: {value}");
        }
    }
}
