//! The reasons for not trusting a response of an upstream.

/// The reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The part of a file cannot be joined to the known part. One request for the whole file, without conditions,
    /// follows.
    #[error("the part that the upstream sent does not continue the file: {0}")]
    Tail(#[from] Tail),
    /// The response is neither a file nor a part of one.
    #[error("the upstream responded with status {0}")]
    Status(u16),
    /// The response is longer than the limit.
    #[error("the upstream sent more than {0} bytes")]
    TooLarge(u64),
    /// A line is longer than that of any real index.
    #[error("the file has a line of more than {0} bytes")]
    LineTooLong(usize),
    /// The file has more names than fit in memory.
    #[error("the file lists more than {0} names")]
    TooManyNames(usize),
    /// The file has more names without an MD5 than fit in memory.
    #[error("the file has more than {0} names without an MD5")]
    TooManyHeld(usize),
    /// The response is an HTML page.
    #[error("the upstream sent HTML; hint: its URL may lead to a login page or a user interface")]
    Html,
    /// The line `---` is missing.
    #[error("the file has no line `---`; hint: the URL may not be that of a compact index")]
    NoHeader,
    /// The last line is not terminated.
    #[error("the file ends within a line")]
    CutInLine,
    /// The file does not have the digest in a header.
    #[error("the file does not match its `{0}`")]
    Digest(&'static str),
    /// The `ETag` looks like an MD5 and is not that of the body. Some servers have such ETags for every file. By the
    /// SHA-256 of the body, the caller detects that the same file comes twice, and then sets `opaque_etags`.
    #[error("the `ETag` is not the MD5 of the file")]
    Etag {
        /// The SHA-256 of the body.
        sha256: [u8; 32],
    },
}

/// The reasons why a part of a file is not joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Tail {
    /// There is no file to continue.
    #[error("no part of the file is known")]
    NothingKept,
    /// 416: the file is shorter than the known part, or another one.
    #[error("the requested range does not exist")]
    NotSatisfiable,
    /// `Content-Range` is missing, starts elsewhere or does not end at the end of the file.
    #[error("its `Content-Range` is not the requested one")]
    Range,
    /// The part has more or fewer bytes than its `Content-Range`.
    #[error("its length is not that of its `Content-Range`")]
    Length,
    /// The byte that both parts have differs.
    #[error("its first byte differs from the last known byte")]
    Overlap,
    /// The part has a `Content-Encoding`, so its range counts other bytes.
    #[error("it is encoded")]
    Encoded,
    /// No header has a digest of the whole file. Some servers rewrite a file and still answer ranges of it
    /// (ruby/rubygems #4514).
    #[error("it has no digest of the whole file")]
    NoDigest,
    /// The joined file does not have the digest in the headers: it changed before its end.
    #[error("the joined file does not match its digest")]
    Digest,
    /// The joined file ends within a line.
    #[error("the joined file ends within a line")]
    CutInLine,
}

impl Tail {
    /// Whether the file may have changed only shortly before its end, so that a part that starts earlier may be
    /// verified.
    pub fn is_of_another_file(self) -> bool {
        matches!(self, Self::NotSatisfiable | Self::Overlap | Self::Digest)
    }
}
