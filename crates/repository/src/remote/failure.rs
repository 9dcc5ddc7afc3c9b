//! Why an upstream's file could not be had, in words that all who waited for it are told.

use super::claims::Differs;
use crate::BadSetting;
use client::Arriving;
use telemetry::{Millis, Reason};

/// Why an upstream's file could not be had. It says nothing of whether there is one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Failure {
    /// For the event.
    pub reason: Reason,
    /// From when on trying again may help, where that is known.
    pub until: Option<Millis>,
    text: String,
    hint: Option<String>,
}

/// What ends a flight without what was asked for.
#[derive(Debug, Clone, thiserror::Error)]
pub(super) enum Trouble {
    #[error(transparent)]
    Upstream(#[from] Failure),
    #[error(transparent)]
    Store(#[from] store::Error),
}

impl Failure {
    pub(super) fn new(reason: Reason, text: String) -> Self {
        Self { reason, until: None, text, hint: None }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        self.hint.clone()
    }

    /// An answer that neither is the file nor proves that there is none.
    pub(super) fn said(answer: &Arriving, paused_until: Option<Millis>) -> Self {
        let status = answer.status();
        let words = if answer.said().is_empty() { String::new() } else { format!(": {}", answer.said()) };
        let (reason, hint) = match status {
            429 => (Reason::UpstreamPaused, None),
            503 if paused_until.is_some() => (Reason::UpstreamPaused, None),
            401 | 403 | 407 => (
                Reason::UpstreamRefused,
                Some("look at the repository's `credentials`; `daylight repo show NAME` says where they are".into()),
            ),
            400..500 => (Reason::UpstreamRefused, None),
            500..600 => (Reason::UpstreamFailed, None),
            _ => (Reason::UpstreamInvalid, None),
        };
        let until = paused_until.filter(|_| reason == Reason::UpstreamPaused);
        Self { reason, until, text: format!("the upstream answered {status}{words}"), hint }
    }

    /// A page for people in place of the file.
    pub(super) fn page() -> Self {
        let hint = "does it want a login, or is there a portal on the way to it?";
        let text = "the upstream answered with a page of HTML in place of the file";
        Self { hint: Some(hint.into()), ..Self::new(Reason::UpstreamInvalid, text.into()) }
    }

    pub(super) fn differs(Differs { checksum, said, is }: &Differs) -> Self {
        let algorithm = checksum.ending();
        let text = format!("what arrived from the upstream has the {algorithm} {is}, and it says {said}");
        Self::new(Reason::UpstreamInvalid, text)
    }
}

impl Trouble {
    pub(super) fn reason(&self) -> Reason {
        match self {
            Trouble::Upstream(failure) => failure.reason,
            Trouble::Store(error) => crate::store_reason(error),
        }
    }
}

impl From<client::Error> for Failure {
    fn from(error: client::Error) -> Self {
        let hint = error.hint().map(Into::into);
        Self { until: error.until(), hint, ..Self::new(error.reason(), format!("the upstream: {error}")) }
    }
}

impl From<BadSetting> for Failure {
    fn from(error: BadSetting) -> Self {
        Self { hint: Some(error.hint().into()), ..Self::new(Reason::UpstreamMisset, error.to_string()) }
    }
}

impl From<client::Error> for Trouble {
    fn from(error: client::Error) -> Self {
        Trouble::Upstream(error.into())
    }
}

impl From<Trouble> for crate::Error {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Upstream(failure) => crate::Error::Upstream(failure),
            Trouble::Store(error) => crate::Error::Store(error),
        }
    }
}
