//! Turns what was found into a reply: headers, body, and the status where `status` does not have it.

pub(crate) mod audience;
pub(crate) mod cache_headers;
mod checksum_headers;
pub(crate) mod explain_link;
pub(crate) mod folder_page;
mod forms;
mod growing_body;
pub(crate) mod ivy;
mod phrase;
pub(crate) mod plain_http;
pub(crate) mod receipt;
mod refusal;
pub(crate) mod server_timing;
pub(crate) mod status;

pub(crate) use forms::{form_again, go_to};
pub(crate) use refusal::{Problem, heading, missing, refusal};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use format::gem::dependencies;
use format::gem::{Form, document};
use front::conditional::Checkpoints;
use front::{Body, Live, Ranges, Reply, Request, Rope, UnchangedDates, takes_gzip};
use http::header::{self, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use receipt::Receipt;
use repository::{ArrivingIndex, Ask, Content, Found, GemFound, Index, Packed, Source, TreeFound};
use std::sync::Arc;
use std::time::{Duration, UNIX_EPOCH};

const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");
const NOTICE: HeaderName = HeaderName::from_static("daylight-notice");
const DIGEST: HeaderName = HeaderName::from_static("digest");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");
const METRICS: HeaderValue = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
const OCTETS: HeaderValue = HeaderValue::from_static("application/octet-stream");
const SVG: HeaderValue = HeaderValue::from_static("image/svg+xml");
/// A picture has a style of its own, and loads nothing.
const PICTURE: HeaderValue = HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// nginx passes a reply with `no` on without waiting for more of it.
const X_ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
/// RFC 9512.
const YAML: HeaderValue = HeaderValue::from_static("application/yaml");

/// How much later than the last change a client of the older index must have its file from, to hear that it is unchanged, where it
/// dates its copy by its own clock.
const CLOCKS_DIFFER: Duration = Duration::from_secs(120);
// What the repository hashes up to is what a proof begins from.
const _: () = assert!(repository::PIECE as u64 == Checkpoints::EVERY);

/// The reply with an answer of a repository. `receipt`: the client reads the answer to its upload as JSON.
pub(crate) fn found(found: Found, ask: &Ask<'_>, request: &Request, receipt: Option<Receipt<'_>>) -> Reply {
    let private = ask.repository.record.private;
    match found {
        Found::Root | Found::Tree(TreeFound::Folder(_)) => text("Daylight\n"),
        Found::Tree(TreeFound::Content(file)) => content(file, private),
        Found::Tree(TreeFound::Removed { notice }) => removed(notice),
        Found::Tree(TreeFound::Kept { new, published: at, notice }) => match receipt {
            Some(receipt) => receipt.put(published(new, notice), ask, at),
            None => published(new, notice),
        },
        Found::Gem(found) => of_gems(found, private, request),
    }
}

/// An upload is published. What that changes for others is told in a header and in the body, though Maven shows neither.
fn published(new: bool, notice: Option<String>) -> Reply {
    let status = if new { StatusCode::CREATED } else { StatusCode::OK };
    let Some(notice) = notice else { return Reply::new(status) };
    let mut reply = Reply { status, ..text(format!("{notice}\n")) };
    put(&mut reply.headers, NOTICE, notice);
    reply
}

/// Files were deleted. The reply has no body, so names that stay with the repository are told in a header alone.
fn removed(notice: Option<String>) -> Reply {
    let mut reply = no_content();
    if let Some(notice) = notice {
        put(&mut reply.headers, NOTICE, notice);
    }
    reply
}

/// The reply with an answer of a gem repository.
fn of_gems(found: GemFound, private: bool, request: &Request) -> Reply {
    match found {
        GemFound::Said(said) => text(said),
        GemFound::Index(made) => index(made, private, request),
        GemFound::Arriving(index) => arriving(index, private),
        GemFound::Packed(file) => packed(file, private, request),
        GemFound::Document(made, form) => {
            let mut reply = index(made, private, request);
            reply.headers.insert(header::CONTENT_TYPE, media(form));
            reply.ranges = Ranges::None;
            reply
        }
        GemFound::Gemspec(made) => gemspec(made, private),
        GemFound::Dependencies(list, form) => dependencies(list, form, private),
        // Relative, so that it is right below whatever prefix the repository is reached.
        GemFound::Elsewhere(path) => {
            let mut reply = Reply::new(StatusCode::FOUND);
            put(&mut reply.headers, header::LOCATION, path);
            reply.headers.insert(header::CACHE_CONTROL, asked_again(private));
            reply
        }
        GemFound::File { name, file, hashes } => {
            let mut reply = Reply::new(StatusCode::OK).body(Body::file(file, hashes.size_bytes));
            let headers = &mut reply.headers;
            headers.insert(header::CONTENT_TYPE, OCTETS);
            put(headers, header::ETAG, format!("\"{}\"", hashes.sha256));
            put(headers, REPR_DIGEST, format!("sha-256=:{}:", STANDARD.encode(hashes.sha256.0)));
            put(headers, header::CONTENT_DISPOSITION, format!("attachment; filename=\"{name}\""));
            headers.insert(header::CACHE_CONTROL, kept(private));
            reply.ranges = Ranges::Bytes;
            reply
        }
    }
}

/// An index of the compact kind. The ETag must be the MD5 of the body: Bundler before 2.5 compares it with its own MD5
/// of the file, and computes If-None-Match from its local copy. Bundler 2.5 and later throws a 206 away that has no
/// Repr-Digest. Clients must revalidate it each time, so that acknowledged changes are visible. It may be compressed.
///
/// An index in one piece may become a page, and pages are compressed elsewhere.
fn index(index: Index, private: bool, request: &Request) -> Reply {
    let gzip = index.gzip.filter(|_| takes_gzip(request));
    let weak = if gzip.is_some() { "W/" } else { "" };
    let mut reply = Reply::new(StatusCode::OK);
    let headers = &mut reply.headers;
    if gzip.is_some() {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(header::CONTENT_TYPE, TEXT);
    put(headers, header::ETAG, format!("{weak}\"{}\"", index.md5));
    let sha256 = STANDARD.encode(index.sha256);
    put(headers, REPR_DIGEST, format!("sha-256=:{sha256}:"));
    // The header before it (RFC 3230), as the conformance suite of gem servers asks.
    put(headers, DIGEST, format!("sha-256={sha256}"));
    headers.insert(header::CACHE_CONTROL, asked_again(private));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(freshness) = index.freshness {
        cache_headers::insert(headers, freshness);
    }
    reply.ranges = Ranges::Prefix(Checkpoints::new(index.states));
    reply.body(body(gzip.unwrap_or(index.pieces)))
}

/// An index that still arrives. Its digests are verified before its last bytes are sent, and else the reply breaks off. It is sent whole,
/// whatever part was asked for.
fn arriving(index: ArrivingIndex, private: bool) -> Reply {
    let mut reply = Reply::new(StatusCode::OK);
    let headers = &mut reply.headers;
    headers.insert(header::CONTENT_TYPE, TEXT);
    put(headers, header::ETAG, format!("\"{}\"", index.md5));
    if let Some(sha256) = index.sha256 {
        let sha256 = STANDARD.encode(sha256);
        put(headers, REPR_DIGEST, format!("sha-256=:{sha256}:"));
        put(headers, DIGEST, format!("sha-256={sha256}"));
    }
    headers.insert(header::CACHE_CONTROL, asked_again(private));
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    reply.body(growing_body::body(index.growing))
}

fn body(pieces: Arc<[Bytes]>) -> Body {
    match &pieces[..] {
        [whole] => Body::Bytes(whole.clone()),
        _ => Body::Rope(Rope::new(pieces)),
    }
}

/// A file of the older index: gzip is what it is, and no coding of it. `gem` asks for it with the moment of its own copy.
fn packed(file: Packed, private: bool, request: &Request) -> Reply {
    let mut reply = Reply::new(StatusCode::OK).body(Body::Rope(Rope::new(file.pieces)));
    let headers = &mut reply.headers;
    headers.insert(header::CONTENT_TYPE, OCTETS);
    headers.insert(header::CACHE_CONTROL, asked_again(private));
    if let Some(modified) = file.modified {
        let modified = UNIX_EPOCH + Duration::from_millis(modified.0.max(0).cast_unsigned());
        put(headers, header::LAST_MODIFIED, httpdate::fmt_http_date(modified));
    }
    if let Some(freshness) = file.freshness {
        cache_headers::insert(headers, freshness);
    }
    // RubyGems sends the time of its own clock, which can equal the date of a file that it does not have.
    reply.unchanged = match asks_as_rubygems(request) {
        true => UnchangedDates::LaterBy(CLOCKS_DIFFER),
        false => UnchangedDates::SameOrLaterBy(CLOCKS_DIFFER),
    };
    reply
}

/// Whether the client is RubyGems, by itself or as a part of Bundler.
fn asks_as_rubygems(request: &Request) -> bool {
    let agents = request.headers.get_all(header::USER_AGENT).iter().filter_map(|agent| agent.to_str().ok());
    agents.map(str::to_ascii_lowercase).any(|agent| agent.contains("rubygems/"))
}

/// A file of a tree.
fn content(file: Content, private: bool) -> Reply {
    let mut reply = Reply::new(StatusCode::OK);
    let headers = &mut reply.headers;
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(file.media));
    // An uploaded file must not become a page on the server's origin: HTML has no media type here and is not guessed, and
    // XML, which may contain scripts, is shown without rights.
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if file.media == "application/xml" {
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox"));
    }
    checksum_headers::insert(headers, &file);
    if let Some(modified) = file.modified {
        let modified = UNIX_EPOCH + Duration::from_millis(modified.0.max(0).cast_unsigned());
        put(headers, header::LAST_MODIFIED, httpdate::fmt_http_date(modified));
    }
    headers.insert(header::CACHE_CONTROL, if file.lasting { kept(private) } else { asked_again(private) });
    if let Some(freshness) = file.freshness {
        cache_headers::insert(headers, freshness);
    }
    reply.ranges = Ranges::Bytes;
    let len = file.hashes.as_ref().map(|hashes| hashes.size_bytes);
    reply.body(match (file.source, len) {
        (Source::Memory(bytes), _) => Body::Bytes(bytes),
        (Source::File(file), Some(len)) => Body::file(file, len),
        (Source::File(_), None) => Body::Empty,
        (Source::Growing(growing), _) => growing_body::body(growing),
    })
}

/// Never to be asked for again.
fn kept(private: bool) -> HeaderValue {
    HeaderValue::from_static(if private {
        "private, max-age=31536000, immutable"
    } else {
        "public, max-age=31536000, immutable"
    })
}

/// A list for one request, which is rarely repeated.
fn dependencies(list: Arc<[Bytes]>, form: dependencies::Form, private: bool) -> Reply {
    let mut reply = Reply::new(StatusCode::OK).body(body(list));
    let kind = match form {
        dependencies::Form::Marshal => OCTETS,
        dependencies::Form::Json => JSON,
    };
    reply.headers.insert(header::CONTENT_TYPE, kind);
    reply.headers.insert(header::CACHE_CONTROL, asked_again(private));
    reply
}

/// A gemspec, which is compressed as it is: clients unpack it themselves, so it gets no coding on its way.
fn gemspec(index: Index, private: bool) -> Reply {
    let mut reply = Reply::new(StatusCode::OK).body(body(index.pieces));
    let headers = &mut reply.headers;
    headers.insert(header::CONTENT_TYPE, OCTETS);
    put(headers, header::ETAG, format!("\"{}\"", index.md5));
    put(headers, REPR_DIGEST, format!("sha-256=:{}:", STANDARD.encode(index.sha256)));
    headers.insert(header::CACHE_CONTROL, asked_again(private));
    reply.ranges = Ranges::Bytes;
    reply
}

/// Clients may keep it if they revalidate it each time.
fn asked_again(private: bool) -> HeaderValue {
    HeaderValue::from_static(if private { "private, no-cache" } else { "public, no-cache" })
}

/// A short text.
pub(crate) fn text(text: impl Into<Bytes>) -> Reply {
    let mut reply = Reply::new(StatusCode::OK).body(Body::Bytes(text.into()));
    reply.headers.insert(header::CONTENT_TYPE, TEXT);
    reply.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

/// A picture that was made for this answer.
pub(crate) fn svg(picture: String) -> Reply {
    let mut reply = text(picture);
    reply.headers.insert(header::CONTENT_TYPE, SVG);
    reply.headers.insert(header::CONTENT_SECURITY_POLICY, PICTURE);
    reply
}

/// The answer of the readiness probe while the server cannot read its data.
pub(crate) fn not_ready(body: String) -> Reply {
    Reply { status: StatusCode::SERVICE_UNAVAILABLE, ..text(body) }
}

/// Metrics, in the text format of Prometheus; as a gzip stream if `gzip`.
pub(crate) fn metrics(page: Bytes, gzip: bool) -> Reply {
    let mut reply = text(page);
    reply.headers.insert(header::CONTENT_TYPE, METRICS);
    reply.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    if gzip {
        reply.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    reply
}

/// The description of the search for browsers.
pub(crate) fn opensearch(body: String) -> Reply {
    let mut reply = page(body, false);
    let media = HeaderValue::from_static("application/opensearchdescription+xml");
    reply.headers.insert(header::CONTENT_TYPE, media);
    reply
}

/// A page for people, as HTML or as text. It depends on the client and its headers.
pub(crate) fn page(body: String, html: bool) -> Reply {
    let mut reply = text(body);
    let headers = &mut reply.headers;
    headers.insert(header::VARY, HeaderValue::from_static("accept, authorization, cookie"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if html {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(web::CONTENT_SECURITY_POLICY));
        headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    }
    reply
}

/// A stylesheet or a script. Its URL changes with its content.
pub(crate) fn asset(asset: &web::Asset) -> Reply {
    let mut reply = Reply::new(StatusCode::OK).body(Body::Bytes(Bytes::from_static(asset.content)));
    let headers = &mut reply.headers;
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asset.media));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CACHE_CONTROL, kept(false));
    reply
}

/// Server-Sent Events, as they come.
pub(crate) fn live(live: Live) -> Reply {
    let mut reply = Reply::new(StatusCode::OK).body(Body::Live(live));
    let headers = &mut reply.headers;
    headers.insert(header::CONTENT_TYPE, EVENT_STREAM);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(X_ACCEL_BUFFERING, HeaderValue::from_static("no"));
    reply
}

/// The request was accepted. The work is done after the reply.
pub(crate) fn accepted(said: &'static str) -> Reply {
    Reply { status: StatusCode::ACCEPTED, ..text(said) }
}

/// An answer for programs that only its caller may keep.
pub(crate) fn data(value: &serde_json::Value, form: Form) -> Reply {
    let mut reply = text(document::render(value, form));
    reply.headers.insert(header::CONTENT_TYPE, media(form));
    reply
}

fn media(form: Form) -> HeaderValue {
    match form {
        Form::Text | Form::Json => JSON,
        Form::Yaml => YAML,
    }
}

/// The answer to a call of the admin API. One with the status 204 has no body.
pub(crate) fn of_call(status: StatusCode, value: &serde_json::Value) -> Reply {
    if status == StatusCode::NO_CONTENT { no_content() } else { json(status, value) }
}

/// An answer that is JSON already.
pub(crate) fn of_json(body: Bytes) -> Reply {
    let mut reply = Reply::new(StatusCode::OK).body(Body::Bytes(body));
    reply.headers.insert(header::CONTENT_TYPE, JSON);
    reply.headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    reply
}

fn json(status: StatusCode, value: &impl serde::Serialize) -> Reply {
    Reply { status, ..of_json(serde_json::to_vec(value).unwrap_or_default().into()) }
}

fn no_content() -> Reply {
    Reply::new(StatusCode::NO_CONTENT)
}

/// Inserts a header. A value with characters that a header cannot have, from the name of a file, is left out.
fn put(headers: &mut HeaderMap, name: HeaderName, text: String) {
    if let Ok(value) = HeaderValue::try_from(text) {
        headers.insert(name, value);
    }
}
