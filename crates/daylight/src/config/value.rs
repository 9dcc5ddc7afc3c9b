//! The types a setting can have: how each is read from text, and how it is shown.

use std::net::SocketAddr;
use std::path::PathBuf;

/// A type that settings can have.
pub(super) trait Value: Sized {
    /// What to write, completing "expects …".
    const EXPECTS: &'static str;
    /// Whether it is a string in the file; else it is a number.
    const QUOTED: bool;
    /// Reads it. `None`: the text does not have the right form.
    fn parse(text: &str) -> Option<Self>;
    /// As a program reads it.
    fn json(&self) -> serde_json::Value;
    /// For limits on numbers.
    fn number(&self) -> Option<u64> {
        None
    }
}

impl Value for u64 {
    const EXPECTS: &'static str = "a whole number";
    const QUOTED: bool = false;

    fn parse(text: &str) -> Option<Self> {
        text.replace('_', "").parse().ok()
    }

    fn json(&self) -> serde_json::Value {
        (*self).into()
    }

    fn number(&self) -> Option<u64> {
        Some(*self)
    }
}

impl Value for usize {
    const EXPECTS: &'static str = "a whole number";
    const QUOTED: bool = false;

    fn parse(text: &str) -> Option<Self> {
        u64::parse(text).and_then(|number| number.try_into().ok())
    }

    fn json(&self) -> serde_json::Value {
        (*self).into()
    }

    fn number(&self) -> Option<u64> {
        u64::try_from(*self).ok()
    }
}

impl Value for SocketAddr {
    const EXPECTS: &'static str = "an address and a port, such as `127.0.0.1:8080` or `[::]:8080`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn json(&self) -> serde_json::Value {
        self.to_string().into()
    }
}

impl Value for PathBuf {
    const EXPECTS: &'static str = "a path";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty() && !text.contains('\0')).then(|| text.into())
    }

    fn json(&self) -> serde_json::Value {
        self.to_string_lossy().into()
    }
}

macro_rules! choice {
    ($(#[doc = $about:literal])+ $type:ident $expects:literal { $($(#[doc = $doc:literal])+ $name:ident $text:literal,)* }) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $type { $($(#[doc = $doc])+ $name,)* }

        impl Value for $type {
            const EXPECTS: &'static str = $expects;
            const QUOTED: bool = true;

            fn parse(text: &str) -> Option<Self> {
                match text {
                    $($text => Some(Self::$name),)*
                    _ => None,
                }
            }

            fn json(&self) -> serde_json::Value {
                match self { $(Self::$name => $text.into(),)* }
            }
        }
    };
}

choice! {
    /// How lines of the process log look.
    LogFormat "`text` or `json`" {
        /// For people.
        Text "text",
        /// One object each line, for programs.
        Json "json",
    }
}

choice! {
    /// What is said in the process log: this and what is worse.
    LogLevel "`error`, `warn`, `info` or `debug`" {
        /// A person must act.
        Error "error",
        /// Something is not as it should be.
        Warn "warn",
        /// What the server does, a few lines an hour.
        Info "info",
        /// More than anybody reads.
        Debug "debug",
    }
}

choice! {
    /// Whether each request makes a line, and which.
    AccessLog "`off`, `text` or `json`" {
        /// None.
        Off "off",
        /// For people.
        Text "text",
        /// One object each line, for programs.
        Json "json",
    }
}
