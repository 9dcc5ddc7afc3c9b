//! Why the settings could not be read. Each says where.

use std::path::PathBuf;

/// Something in the configuration that Daylight will not start with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file named cannot be read.
    #[error("cannot read the configuration file `{}`", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
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
    /// Nothing has that name.
    #[error("{place}: no key or section is called `{name}`")]
    Unknown {
        /// File and line, or the variable.
        place: String,
        /// What was written.
        name: String,
        /// The name it resembles most.
        nearest: Option<String>,
    },
    /// The value does not have the right form.
    #[error("{place}: `{key}` expects {expects}, and `{value}` is not that")]
    Invalid {
        /// File and line, the variable or the flag.
        place: String,
        /// `section.key`.
        key: &'static str,
        /// What would be right.
        expects: String,
        /// What was written.
        value: String,
    },
    /// A repository cannot be as the file says.
    #[error("{place}: {message}")]
    Repository {
        /// File and line.
        place: String,
        /// What is wrong with it.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// Two values, or a value and the machine, exclude each other.
    #[error("{text}")]
    Contradiction {
        /// Which and why.
        text: String,
        /// What to do.
        hint: String,
    },
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Unknown { nearest: Some(nearest), .. } => Some(format!("did you mean `{nearest}`?")),
            Error::Unknown { .. } => Some("`daylight config show` lists every key".to_owned()),
            Error::Unreadable { .. } => Some("`--config` and `DAYLIGHT_CONFIG` name the file".to_owned()),
            Error::Contradiction { hint, .. } => Some(hint.clone()),
            Error::Repository { hint, .. } => hint.clone(),
            Error::NotToml { .. } | Error::Invalid { .. } => None,
        }
    }
}
