//! The paths of a gem upstream that are fetched by path.

use crate::tree::readable::Readable;
use crate::tree::subject;
use bytes::Bytes;
use format::gem::upstream::{INFO_BYTES, Info};
use telemetry::Subject;

/// The kind of a gem upstream's path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GemPath<'a> {
    /// The versions of the gem of this name.
    Info(&'a str),
    /// A package, or a file about one.
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

    /// Whether the index lists it: the versions of a gem, or a package. Other files about a package are not listed.
    pub(crate) fn is_listed(self) -> bool {
        matches!(self, GemPath::Info(_)) || matches!(self, GemPath::Other(path) if path.starts_with("gems/"))
    }

    /// The check that the file must pass.
    pub(crate) fn readable(self) -> Option<Readable> {
        let check = |bytes: &[u8]| {
            Info::read(Bytes::copy_from_slice(bytes)).map(|_| ()).map_err(|refusal| format!("`/info`: {refusal}"))
        };
        matches!(self, GemPath::Info(_)).then(|| Readable { longest: INFO_BYTES, check: Box::new(check) })
    }

    /// The identity of the path for events. Of a package only the index knows the gem.
    pub(crate) fn subject(self, kind: &'static str) -> Subject {
        let package = match self {
            GemPath::Info(name) => name,
            GemPath::Other(_) => "",
        };
        subject::subject(kind, package)
    }

    /// The unit of its revisions: the gem if the path names one, otherwise the path.
    pub(crate) fn unit(self) -> &'a str {
        match self {
            GemPath::Info(unit) | GemPath::Other(unit) => unit,
        }
    }
}
