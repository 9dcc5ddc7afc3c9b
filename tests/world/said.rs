//! What a command said, and whether it succeeded.

use std::process::Output;

/// Both streams in one, and whether it succeeded.
pub(crate) struct Said {
    succeeded: bool,
    text: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        Self { succeeded: output.status.success(), text: text.into_owned() }
    }
}

impl Said {
    /// What was said, by a command that succeeded or failed.
    pub(crate) fn either(self) -> Result<String, String> {
        if self.succeeded { Ok(self.text) } else { Err(self.text) }
    }

    /// What was said, by a command that succeeded.
    #[track_caller]
    pub(crate) fn good(self) -> String {
        assert!(self.succeeded, "{}", self.text);
        self.text
    }

    /// What was said, by a command that failed.
    #[track_caller]
    pub(crate) fn bad(self) -> String {
        assert!(!self.succeeded, "it succeeded: {}", self.text);
        self.text
    }
}
