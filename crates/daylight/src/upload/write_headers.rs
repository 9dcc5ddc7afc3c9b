//! The headers and the form of the path of a write that change what it means. Each is honoured, or the write is refused: a file never
//! changes once it is stored, so a part of a file, or a coded one, must not be taken for the whole.

use crate::route::Content;
use crate::upload::digests::{self, UploadDigests};
use crate::upload::write_refusal::WriteRefusal;
use front::conditional::ChangeConditions;
use http::HeaderMap;
use http::header::{self, HeaderName};
use repository::{Brings, Format, Question, WriteConditions};
use std::time::{SystemTime, UNIX_EPOCH};
use telemetry::Millis;

/// A client of Artifactory sends it in place of bytes that the server has already.
const CHECKSUM_DEPLOY: HeaderName = HeaderName::from_static("x-checksum-deploy");

/// The meaning of the headers of a write.
#[derive(Debug, Default)]
pub(crate) struct WriteHeaders {
    /// `None`: there are no conditions.
    pub(crate) conditions: Option<WriteConditions>,
    /// The digests of the bytes.
    pub(crate) digests: UploadDigests,
    /// Whether a body may be missing, because the bytes are here already.
    pub(crate) by_digest: bool,
}

/// Headers that give a write a meaning that this server does not know: the name, the values that do, the meaning, and what to do.
type Meaning = (&'static str, fn(&str) -> bool, &'static str, &'static str);

const PART: &str = "means that the body is a part of a file, and only whole files are stored (RFC 9110, 14.5)";
const WHOLE: &str = "upload the whole file; with curl, leave out `-C`";
const COPY: &str = "means a copy of another file, which no upload makes here";
const DOWNLOAD: &str = "download the file, and upload its bytes";
const CODED: &str = "means that the body is coded, and files are stored as they arrive";
const PLAIN: &str = "upload the bytes of the file itself, without the header";
const OTHER: &str = "names a method beside that of the request";
const METHOD: &str = "use the method itself";
const ARCHIVE: &str = "means that the files in an archive are stored, and here the archive would be";
const MEMBERS: &str = "unpack the archive, and upload its files";
const CONDITION: &str = "is a condition that is not known here";
const STANDARD: &str = "use `If-Match`, `If-None-Match` or `If-Unmodified-Since`";

const MEANINGS: [Meaning; 27] = [
    ("content-range", any, PART, WHOLE),
    ("range", any, PART, WHOLE),
    ("oc-chunked", any, PART, WHOLE),
    ("x-ms-range", any, PART, WHOLE),
    ("upload-complete", |value| value != "?1", PART, WHOLE),
    ("upload-incomplete", |value| value != "?0", PART, WHOLE),
    ("upload-offset", any, PART, WHOLE),
    ("content-encoding", |value| !value.is_empty() && !value.eq_ignore_ascii_case("identity"), CODED, PLAIN),
    ("x-amz-content-sha256", |value| value.starts_with("STREAMING-"), CODED, PLAIN),
    ("x-amz-decoded-content-length", any, CODED, PLAIN),
    ("x-amz-copy-source", any, COPY, DOWNLOAD),
    ("x-amz-copy-source-range", any, COPY, DOWNLOAD),
    ("x-goog-copy-source", any, COPY, DOWNLOAD),
    ("x-ms-copy-source", any, COPY, DOWNLOAD),
    ("x-copy-from", any, COPY, DOWNLOAD),
    ("x-object-manifest", any, COPY, DOWNLOAD),
    ("x-symlink-target", any, COPY, DOWNLOAD),
    ("if", any, CONDITION, STANDARD),
    ("x-goog-if-generation-match", any, CONDITION, STANDARD),
    ("x-goog-if-metageneration-match", any, CONDITION, STANDARD),
    ("x-http-method-override", any, OTHER, METHOD),
    ("x-http-method", any, OTHER, METHOD),
    ("x-method-override", any, OTHER, METHOD),
    ("x-explode-archive", is_true, ARCHIVE, MEMBERS),
    ("x-explode-archive-atomic", is_true, ARCHIVE, MEMBERS),
    (
        "x-checksum-deploy",
        |value| !is_true(value) && !value.eq_ignore_ascii_case("false"),
        "is neither true nor false",
        "send `true` or leave it out",
    ),
    (
        "trailer",
        announces_digest,
        "announces a digest after the body, where none is read",
        "send the digest before the body",
    ),
];

fn any(_: &str) -> bool {
    true
}

fn is_true(value: &str) -> bool {
    value.eq_ignore_ascii_case("true")
}

fn announces_digest(value: &str) -> bool {
    let is_digest = |name: &str| digests::HEADERS.iter().any(|(header, _)| header.eq_ignore_ascii_case(name));
    value.split(',').any(|name| is_digest(name.trim()))
}

/// Reads what the headers and the path of a change say of it.
pub(crate) fn read(
    headers: &HeaderMap,
    (url, query): (&Content, &str),
    (format, question): (Format, &Question<'_>),
    brings: Brings,
) -> Result<WriteHeaders, WriteRefusal> {
    for (header, gives, means, hint) in MEANINGS {
        let values = headers.get_all(header).iter();
        if values.map(|value| value.to_str().unwrap_or("?").trim()).any(gives) {
            return Err(WriteRefusal::Header { header, means, hint });
        }
    }
    if format.is_tree() {
        if url.path.ends_with('/') {
            return Err(WriteRefusal::Folder);
        }
        if !query.is_empty() {
            return Err(WriteRefusal::Query);
        }
        if brings == Brings::File {
            check_form(headers)?;
        }
    }
    let conditions = Some(conditions(headers)).filter(|conditions| !conditions.is_empty());
    if conditions.is_some() && !question.takes_conditions() {
        return Err(WriteRefusal::Conditions);
    }
    if brings != Brings::File {
        return Ok(WriteHeaders { conditions, ..WriteHeaders::default() });
    }
    let digests = UploadDigests::read(headers)?;
    let by_digest = headers.get_all(CHECKSUM_DEPLOY).iter().any(|value| value.to_str().is_ok_and(is_true));
    Ok(WriteHeaders { conditions, digests, by_digest })
}

/// Refuses the upload of a file whose type says that it is none.
fn check_form(headers: &HeaderMap) -> Result<(), WriteRefusal> {
    let kinds = headers.get_all(header::CONTENT_TYPE).iter().filter_map(|kind| kind.to_str().ok());
    let is_multipart =
        |kind: &str| kind.trim_start().get(..10).is_some_and(|kind| kind.eq_ignore_ascii_case("multipart/"));
    if kinds.into_iter().any(is_multipart) {
        let means = "means that the body is a form or has several parts, and it would be stored with their delimiters";
        return Err(WriteRefusal::Header {
            header: "content-type",
            means,
            hint: "send the file alone: `curl -T FILE URL`",
        });
    }
    Ok(())
}

/// The conditions in the headers.
fn conditions(headers: &HeaderMap) -> WriteConditions {
    let ChangeConditions { matches, none_match, unmodified_since } = ChangeConditions::new(headers);
    let millis = |at: SystemTime| i64::try_from(at.duration_since(UNIX_EPOCH).ok()?.as_millis()).ok().map(Millis);
    WriteConditions { matches, none_match, unmodified_since: unmodified_since.and_then(millis) }
}
