//! The output of a command, and whether it succeeded.

use std::process::Output;

/// Both output streams in one, and whether the command succeeded.
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
    /// The output, as success or failure.
    pub(crate) fn either(self) -> Result<String, String> {
        if self.succeeded { Ok(self.text) } else { Err(self.text) }
    }

    /// The output of a command that must succeed.
    #[track_caller]
    pub(crate) fn good(self) -> String {
        assert!(self.succeeded, "{}", self.text);
        self.text
    }

    /// The output of a command that must fail.
    #[track_caller]
    pub(crate) fn bad(self) -> String {
        assert!(!self.succeeded, "it succeeded: {}", self.text);
        self.text
    }
}
