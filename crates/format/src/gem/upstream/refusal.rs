//! Why an answer of an upstream is not believed.

/// Why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The part of a file cannot be joined to what was kept. One request without conditions, for the whole file, follows.
    #[error("the part that the upstream sent does not continue the file: {0}")]
    Tail(#[from] Tail),
    /// Neither a file nor part of one.
    #[error("the upstream answered with status {0}")]
    Status(u16),
    /// More bytes than are read.
    #[error("the upstream sent more than {0} bytes")]
    TooLarge(u64),
    /// A line is longer than any index has.
    #[error("the file has a line of more than {0} bytes")]
    LineTooLong(usize),
    /// More names than are kept in memory.
    #[error("the file lists more than {0} names")]
    TooManyNames(usize),
    /// More names without an MD5 than are kept in memory.
    #[error("the file has more than {0} names without an MD5")]
    TooManyHeld(usize),
    /// It is a page for people.
    #[error("the upstream sent HTML; hint: its URL may lead to a login page or a user interface")]
    Html,
    /// The line `---` is missing.
    #[error("the file has no line `---`; hint: the URL may not be that of a compact index")]
    NoHeader,
    /// The last line has no end.
    #[error("the file ends within a line")]
    CutInLine,
    /// The digest in a header is that of other bytes.
    #[error("the file is not the one that its `{0}` announces")]
    Digest(&'static str),
    /// The `ETag` looks like an MD5 and is not that of the body. Some servers have such ETags for every file. The SHA-256 of the
    /// body lets the caller see whether the same comes twice, and then read with `opaque_etags`.
    #[error("the `ETag` is not the MD5 of the file")]
    Etag {
        /// The SHA-256 of the body.
        sha256: [u8; 32],
    },
}

/// Why part of a file is not joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Tail {
    /// There is no file to continue.
    #[error("nothing was kept")]
    NothingKept,
    /// 416: the file is shorter than what was kept, or another.
    #[error("the requested range does not exist")]
    NotSatisfiable,
    /// `Content-Range` is missing, begins elsewhere or does not end where the file ends.
    #[error("its `Content-Range` is not the requested one")]
    Range,
    /// It has more or fewer bytes than its `Content-Range`.
    #[error("its length is not that of its `Content-Range`")]
    Length,
    /// The byte that both have differs.
    #[error("its first byte is not the last byte of what was kept")]
    Overlap,
    /// It has a `Content-Encoding`, so its range counts other bytes.
    #[error("it is encoded")]
    Encoded,
    /// No header has a digest of the whole file. Servers that rewrite a file and answer ranges of it exist (ruby/rubygems #4514).
    #[error("it has no digest of the whole file")]
    NoDigest,
    /// The joined file is not the announced one: it changed before its end.
    #[error("the joined file has another digest than announced")]
    Digest,
    /// The joined file ends within a line.
    #[error("the joined file ends within a line")]
    CutInLine,
}

impl Tail {
    /// Whether the file may have changed only a little before its end, so that a part that begins earlier can be verified.
    pub fn is_of_another_file(self) -> bool {
        matches!(self, Self::NotSatisfiable | Self::Overlap | Self::Digest)
    }
}
