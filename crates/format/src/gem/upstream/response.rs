//! The status and headers of an upstream's response that are used to verify an index.

/// The head of a response.
#[derive(Debug, Clone, Copy, Default)]
pub struct Response<'a> {
    /// The status.
    pub status: u16,
    /// `Content-Range`.
    pub content_range: Option<&'a str>,
    /// `ETag`.
    pub etag: Option<&'a str>,
    /// `Repr-Digest`.
    pub repr_digest: Option<&'a str>,
    /// `Digest`.
    pub digest: Option<&'a str>,
    /// Whether there is a `Content-Encoding` other than `identity`. The body is given decoded.
    pub encoded: bool,
}
