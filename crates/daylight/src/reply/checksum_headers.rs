//! Headers with the digests of a file of a Maven or raw repository, in all forms that clients look for. With them Maven (3.9 on) does
//! not request the `.sha1`, which halves its requests. Gradle compares the ETag.

use format::tree::Checksum;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use repository::{Content, Source};

// Maven's resolver (1.9 on) and Gradle look for the first two, Coursier for the third too.
const SHA1: HeaderName = HeaderName::from_static("x-checksum-sha1");
const MD5: HeaderName = HeaderName::from_static("x-checksum-md5");
const SHA256: HeaderName = HeaderName::from_static("x-checksum-sha256");
const SHA512: HeaderName = HeaderName::from_static("x-checksum-sha512");

/// Inserts the headers of a file. The digests of a file that is still being downloaded come from its upstream; they are
/// verified before the last bytes are sent.
pub(crate) fn insert(headers: &mut HeaderMap, file: &Content) {
    if let Some(hashes) = &file.hashes {
        insert_one(headers, Checksum::Sha1, &hashes.sha1);
        insert_one(headers, Checksum::Sha256, &hashes.sha256.to_string());
        for (checksum, digest) in [(Checksum::Md5, &hashes.md5), (Checksum::Sha512, &hashes.sha512)] {
            digest.iter().for_each(|digest| insert_one(headers, checksum, digest));
        }
    } else if let Source::Growing(growing) = &file.source {
        growing.promised.iter().for_each(|(checksum, digest)| insert_one(headers, *checksum, digest));
    }
}

fn insert_one(headers: &mut HeaderMap, checksum: Checksum, digest: &str) {
    let mut put = |name: HeaderName, text: &str| {
        // A header value of hexadecimal digits is always valid.
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
