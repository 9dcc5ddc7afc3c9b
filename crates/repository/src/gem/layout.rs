//! A path of an upstream of gems: what is fetched from there by its path, and nothing else.

use crate::tree::readable::Readable;
use bytes::Bytes;
use format::gem::upstream::{INFO_BYTES, Info};

/// What a path of an upstream of gems is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GemPath<'a> {
    /// The versions of the gem of this name.
    Info(&'a str),
    /// A package, or something that is about one.
    Other(&'a str),
}

impl<'a> GemPath<'a> {
    /// Reads a path.
    pub(crate) fn read(path: &'a str) -> Self {
        match path.strip_prefix("info/") {
            Some(name) => GemPath::Info(name),
            None => GemPath::Other(path),
        }
    }

    /// Whether the index lists it: the versions of a gem, or a package. What else there may be about one is not in there.
    pub(crate) fn is_listed(self) -> bool {
        matches!(self, GemPath::Info(_)) || matches!(self, GemPath::Other(path) if path.starts_with("gems/"))
    }

    /// What clients must be able to read.
    pub(crate) fn readable(self) -> Option<Readable> {
        let check = |bytes: &[u8]| {
            Info::read(Bytes::copy_from_slice(bytes)).map(|_| ()).map_err(|refusal| format!("`/info`: {refusal}"))
        };
        matches!(self, GemPath::Info(_)).then(|| Readable { longest: INFO_BYTES, check: Box::new(check) })
    }

    /// The unit of its revisions: the gem where the path names one, else the path itself.
    pub(crate) fn unit(self) -> &'a str {
        match self {
            GemPath::Info(unit) | GemPath::Other(unit) => unit,
        }
    }
}
