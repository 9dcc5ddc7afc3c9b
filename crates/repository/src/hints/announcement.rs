//! The change upstream that a hook announces.

use telemetry::Millis;

/// The change that a hook announces. Each field may be missing. If all are missing, anything may have changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Announcement {
    /// The package, as the format of the repository names it.
    pub package: Option<String>,
    /// The path of a file or a folder, in formats that have paths.
    pub path: Option<String>,
    /// The version of the package.
    pub version: Option<String>,
    /// The platform that the version is for.
    pub platform: Option<String>,
    /// Whether the version was withdrawn.
    pub gone: bool,
    /// When it was published.
    pub published: Option<Millis>,
    /// The folders that clients requested recently. If anything may have changed, their answers in memory are voided.
    pub recent: Vec<String>,
}
