//! The coded identity of a path that its format reads nothing in.

use telemetry::Subject;

/// The subject of a path, without its repository.
pub(crate) fn subject(kind: &'static str, path: &str) -> Subject {
    Subject { repository: "".into(), package: path.into(), version: "".into(), kind }
}
