//! What the sender of a hook says has changed upstream.

use telemetry::Millis;

/// What the sender of a hook says has changed. Everything may be missing: then anything may have changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Announcement {
    /// The package, as the format of the repository names it.
    pub package: Option<String>,
    /// The path of a file or a folder, where the format has paths.
    pub path: Option<String>,
    /// The version of the package.
    pub version: Option<String>,
    /// The platform that the version is for.
    pub platform: Option<String>,
    /// Whether it was withdrawn.
    pub gone: bool,
    /// When it was published.
    pub published: Option<Millis>,
    /// The folders that clients asked for of late, where anything may have changed: their answers may be in memory.
    pub recent: Vec<String>,
}
