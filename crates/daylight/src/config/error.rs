//! Why the settings could not be read, each with its place.

use std::path::PathBuf;

/// A mistake in the configuration with which Daylight does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read.
    #[error("cannot read the configuration file `{}`", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is not TOML.
    #[error("{place}: {message}")]
    NotToml {
        /// File and line.
        place: String,
        /// What the parser says.
        message: String,
    },
    /// No key or section has the name.
    #[error("{place}: there is no setting or section `{name}`")]
    Unknown {
        /// File and line, or the variable.
        place: String,
        /// The unknown name.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// The value does not have the right form.
    #[error("{place}: `{key}` must be {expects}, not `{value}`")]
    Invalid {
        /// File and line, the variable or the flag.
        place: String,
        /// `section.key`.
        key: &'static str,
        /// The form that is expected.
        expects: String,
        /// The value.
        value: String,
    },
    /// A repository cannot be as the file declares it.
    #[error("{place}: {message}")]
    Repository {
        /// File and line.
        place: String,
        /// The mistake.
        message: String,
        /// The remedy.
        hint: Option<String>,
    },
    /// A finding cannot be as the file defines it.
    #[error("{place}: {message}")]
    Finding {
        /// File and line.
        place: String,
        /// The mistake.
        message: String,
        /// The remedy.
        hint: Option<String>,
    },
    /// Two values, or a value and the machine, exclude each other.
    #[error("{text}")]
    Contradiction {
        /// The contradiction.
        text: String,
        /// The remedy.
        hint: String,
    },
}

impl Error {
    /// The remedy, where there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Unknown { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Error::Unknown { .. } => Some("`daylight config show` lists all settings".to_owned()),
            Error::Unreadable { .. } => Some("the file is named by `--config` or `DAYLIGHT_CONFIG`".to_owned()),
            Error::Contradiction { hint, .. } => Some(hint.clone()),
            Error::Repository { hint, .. } | Error::Finding { hint, .. } => hint.clone(),
            Error::Invalid { key: "finding.above" | "finding.below", .. } => {
                Some("write a number, such as `above = 500` or `below = 0.5`".to_owned())
            }
            Error::NotToml { .. } | Error::Invalid { .. } => None,
        }
    }
}
