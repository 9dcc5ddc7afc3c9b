//! Why a write is refused for the form of its request: it means something else than to store its bytes at its path.

use format::tree::Checksum;
use http::HeaderValue;
use telemetry::{Event, Reason};

/// Why a write is refused for the form of its request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteRefusal {
    /// A header gives the write another meaning.
    #[error("`{header}` {means}")]
    Header {
        /// The header.
        header: &'static str,
        /// The meaning of the header, as the end of a sentence.
        means: &'static str,
        /// The remedy.
        hint: &'static str,
    },
    /// The path ends with a slash.
    #[error("the path ends with a slash, so it names a folder, and only files are changed")]
    Folder,
    /// The URL has a query.
    #[error("a change of a file has no query, and servers that read one change something else")]
    Query,
    /// The call of the RubyGems API takes no conditions.
    #[error("this call takes no conditions")]
    Conditions,
    /// A header declares a digest of a known algorithm that cannot be read.
    #[error("`{header}` is `{}`, which is no digest", Event::text(&String::from_utf8_lossy(value.as_bytes())))]
    MalformedDigest {
        /// The header.
        header: &'static str,
        /// Its value.
        value: HeaderValue,
    },
    /// A digest in a header differs from that of the bytes.
    #[error("`{header}` says that the {} of the upload is {said}, and the bytes that arrived have {is}", checksum.ending())]
    DigestDiffers {
        /// The header.
        header: &'static str,
        /// The algorithm.
        checksum: Checksum,
        /// The digest in the header, hexadecimal.
        said: String,
        /// The digest of the bytes.
        is: String,
    },
    /// `X-Checksum-Deploy` without a digest.
    #[error("`X-Checksum-Deploy` names bytes that are here already by their digest, and the request has none")]
    NoDigest,
    /// No file that the caller may read has the digest. Files that they may not read are not told apart from others.
    #[error("no published file that this token may read is known to have these bytes")]
    UnknownBytes,
}

impl WriteRefusal {
    /// The reason, for events and metrics.
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::DigestDiffers { .. } => Reason::ChecksumDiffers,
            Self::UnknownBytes => Reason::NoSuchFile,
            Self::Header { .. } | Self::Folder | Self::Query | Self::Conditions => Reason::InputInvalid,
            Self::MalformedDigest { .. } | Self::NoDigest => Reason::InputInvalid,
        }
    }

    /// The remedy.
    pub(crate) fn hint(&self) -> &'static str {
        match self {
            Self::Header { hint, .. } => hint,
            Self::Folder => {
                "a folder exists while files are in it: upload the files, or delete its path without the slash"
            }
            Self::Query => "send it to the same URL without the query",
            Self::Conditions => "send it without `If-Match`, `If-None-Match` and `If-Unmodified-Since`",
            Self::MalformedDigest { .. } => {
                "nothing was stored; send the digest in the form of its header, or leave the header out"
            }
            Self::DigestDiffers { .. } => {
                "nothing was stored; the file or the header is not the intended one: upload it again"
            }
            Self::NoDigest => "send `X-Checksum-Sha1` or `X-Checksum-Sha256`",
            Self::UnknownBytes => "upload the file with its bytes, and without `X-Checksum-Deploy`",
        }
    }
}
