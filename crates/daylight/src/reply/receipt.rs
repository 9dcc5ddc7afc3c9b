//! The answer to an upload for clients of Artifactory, which read it as JSON: the build clients of JFrog (build-info-client 2.x
//! `ArtifactoryUploadResponse`), its plugins for Gradle and Maven, and its command line. They send `X-Checksum-Sha1`, or ask for JSON.

use super::JSON;
use bytes::Bytes;
use format::tree::{self, Checksum};
use front::{Body, Reply, Request};
use http::{StatusCode, header};
use repository::{Ask, digits};
use serde_json::{Map, Value, json};
use store::Hashes;
use telemetry::Millis;

/// The published file, and who published it.
pub(crate) struct Receipt<'a> {
    pub(crate) hashes: Hashes,
    /// The digests in the headers of the upload.
    pub(crate) declared: Vec<(Checksum, String)>,
    /// The path below the repository.
    pub(crate) path: &'a str,
    /// The URL of the file.
    pub(crate) url: String,
    /// The name of the token.
    pub(crate) by: &'a str,
}

/// Whether the client reads the answer as JSON.
pub(crate) fn is_wanted(request: &Request) -> bool {
    let speaks = request.headers.keys().any(|name| name.as_str().starts_with("x-checksum"));
    let accepts = request.headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    speaks || accepts.flat_map(|value| value.split(',')).any(asks_for_json)
}

/// `application/json`, or another type of JSON.
fn asks_for_json(range: &str) -> bool {
    let kind = range.split(';').next().unwrap_or_default().trim();
    kind.eq_ignore_ascii_case("application/json") || (kind.starts_with("application/vnd.") && kind.ends_with("+json"))
}

impl Receipt<'_> {
    /// Adds it to the reply. Sizes are texts, as there.
    pub(crate) fn put(self, reply: Reply, ask: &Ask<'_>, published: Millis) -> Reply {
        let Self { hashes, declared, path, url, by } = self;
        let all = [Checksum::Md5, Checksum::Sha1, Checksum::Sha256];
        let checksums: Map<String, Value> =
            all.iter().map(|checksum| (checksum.ending().to_owned(), digits(&hashes, *checksum).into())).collect();
        let declared: Map<String, Value> =
            declared.into_iter().map(|(checksum, digits)| (checksum.ending().to_owned(), digits.into())).collect();
        let mut value = json!({
            "repo": ask.repository.record.name,
            "path": format!("/{path}"),
            "created": published.to_string(),
            "createdBy": by,
            "downloadUri": url,
            "mimeType": tree::media(path),
            "size": hashes.size_bytes.to_string(),
            "checksums": checksums,
            "originalChecksums": declared,
            "uri": url,
        });
        if let Body::Bytes(notice) = &reply.body {
            value["notice"] = String::from_utf8_lossy(notice).trim_end().into();
        }
        let body = serde_json::to_vec(&value).unwrap_or_default();
        debug_assert!(matches!(reply.status, StatusCode::OK | StatusCode::CREATED));
        reply.header(header::CONTENT_TYPE, JSON).body(Body::Bytes(Bytes::from(body)))
    }
}
