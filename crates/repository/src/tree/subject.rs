//! The identity of a path for events, in formats that read nothing in it.

use telemetry::Subject;

/// The subject of a path, without its repository.
pub(crate) fn subject(kind: &'static str, path: &str) -> Subject {
    Subject { repository: "".into(), package: path.into(), version: "".into(), kind }
}
