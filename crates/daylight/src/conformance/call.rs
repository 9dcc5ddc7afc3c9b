//! The calls of a conformance suite for gem servers.

/// A call of a conformance suite, below a repository's root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConformanceCall {
    /// Set the time of day to the body.
    SetTime,
    /// Make the clock jump to the body, as when somebody sets the clock of the machine. For Daylight's own tests.
    JumpTime,
    /// Render `/versions` again from the start.
    RebuildVersions,
}

impl ConformanceCall {
    /// The call of a path below a repository's root, if it is one.
    pub fn read(path: &str) -> Option<Self> {
        match path {
            "jump_time" => Some(ConformanceCall::JumpTime),
            "set_time" => Some(ConformanceCall::SetTime),
            "rebuild_versions_list" => Some(ConformanceCall::RebuildVersions),
            _ => None,
        }
    }
}
