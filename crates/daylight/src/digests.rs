//! What clients are told of the bytes of a file of a tree: every digest that one of them may look for. Maven from 3.9 on then
//! asks for no `.sha1`, which halves its requests, and Gradle compares the ETag.

use format::tree::Checksum;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use repository::{Content, Source};

// Maven's resolver (1.9 on) and Gradle look for the first two, Coursier for the third too.
const SHA1: HeaderName = HeaderName::from_static("x-checksum-sha1");
const MD5: HeaderName = HeaderName::from_static("x-checksum-md5");
const SHA256: HeaderName = HeaderName::from_static("x-checksum-sha256");
const SHA512: HeaderName = HeaderName::from_static("x-checksum-sha512");

/// Says it in the headers of a reply: of what is there what it is, and of what still arrives what its upstream promised.
/// That is held against the bytes before the last of them are sent.
pub(crate) fn tell(headers: &mut HeaderMap, file: &Content) {
    if let Some(hashes) = &file.hashes {
        tell_one(headers, Checksum::Sha1, &hashes.sha1);
        tell_one(headers, Checksum::Md5, &hashes.md5);
        tell_one(headers, Checksum::Sha256, &hashes.sha256.to_string());
        tell_one(headers, Checksum::Sha512, &hashes.sha512);
    } else if let Source::Growing(growing) = &file.source {
        growing.promised.iter().for_each(|(checksum, digest)| tell_one(headers, *checksum, digest));
    }
}

fn tell_one(headers: &mut HeaderMap, checksum: Checksum, digest: &str) {
    let mut put = |name: HeaderName, text: &str| {
        // Hexadecimal digits are never refused.
        if let Ok(value) = HeaderValue::from_str(text) {
            headers.insert(name, value);
        }
    };
    match checksum {
        Checksum::Sha1 => {
            put(header::ETAG, &format!("\"{digest}\""));
            put(SHA1, digest);
        }
        Checksum::Md5 => put(MD5, digest),
        Checksum::Sha256 => put(SHA256, digest),
        Checksum::Sha512 => put(SHA512, digest),
    }
}
