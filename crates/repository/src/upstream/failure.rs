//! The reason why an upstream's file could not be fetched, in two texts. The public one contains no address, path or
//! name from the settings, and nothing that the upstream sent. The detailed one is for operators and stands in events.

use crate::bad_setting::BadSetting;
use crate::upstream::declared_digests::DigestMismatch;
use client::Arriving;
use telemetry::{Millis, Reason};

/// The public reason why an upstream's file could not be fetched. It does not reveal whether the file exists.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", .words, answered(*.status))]
pub struct Failure {
    /// The reason in events.
    pub reason: Reason,
    /// When another attempt may succeed, if that is known.
    pub until: Option<Millis>,
    /// The status that the upstream answered, if that is the reason.
    status: Option<u16>,
    /// The public text.
    words: &'static str,
    text: String,
    hint: Option<String>,
}

/// The repository has no upstream URL.
const UNSET: &str = "this repository has no upstream yet";

/// The public text of a reason.
fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::UpstreamUnreachable => "the upstream cannot be reached",
        Reason::UpstreamTls => "the TLS handshake with the upstream failed",
        Reason::UpstreamTimeout => "the upstream did not answer in time",
        Reason::UpstreamCut => "the upstream closed the connection before its answer was complete",
        Reason::UpstreamInvalid => "the upstream's answer is not the file",
        Reason::UpstreamBehind => "the upstream's file is older than its index",
        Reason::UpstreamUnread => "the content of the upstream is not known yet",
        Reason::KojiFileMissing => "the upstream lacks a file that its index has",
        Reason::UpstreamFailed => "the upstream failed",
        Reason::UpstreamRefused => "the upstream refused the request",
        Reason::UpstreamForbids => "the upstream refuses this file",
        Reason::UpstreamPaused => "the upstream asked for a pause",
        Reason::UpstreamLeftAlone => {
            "the upstream failed again and again, so it is not asked for a while (circuit open)"
        }
        Reason::UpstreamMisset => "the settings of the upstream of this repository cannot be used",
        Reason::BoundFull => "too many requests to the upstream are under way",
        _ => "the upstream's file is not available",
    }
}

fn answered(status: Option<u16>) -> String {
    status.map(|status| format!(": it answered {status}")).unwrap_or_default()
}

impl Failure {
    pub(crate) fn new(reason: Reason, text: String) -> Self {
        Self { reason, until: None, status: None, words: words(reason), text, hint: None }
    }

    /// The failure of a repository without an upstream URL.
    pub(crate) fn unset(repository: &str) -> Self {
        let hint = format!("`daylight repo set {repository} --remote URL` names it");
        let text = format!("`{repository}` has no upstream");
        Self { words: UNSET, hint: Some(hint), ..Self::new(Reason::UpstreamMisset, text) }
    }

    /// The public text, without the upstream's status.
    pub fn words(&self) -> &'static str {
        self.words
    }

    /// The public hint.
    pub(crate) fn public_hint(&self) -> Option<&str> {
        self.hint.as_deref().filter(|_| self.words == UNSET)
    }

    /// The detailed text for events. It may name hosts and files.
    pub fn detail(&self) -> String {
        let hint = self.hint.as_ref().map(|hint| format!("; hint: {hint}")).unwrap_or_default();
        format!("{}{hint}", self.text)
    }

    /// The failure for a response that is neither the file nor a proof that there is none. `passes` tells whether a 403
    /// about the file is the client's, too.
    pub(crate) fn said(answer: &Arriving, passes: bool) -> Self {
        let (status, paused_until) = (answer.status(), answer.paused_until());
        let words = if answer.said().is_empty() { String::new() } else { format!(": {}", answer.said()) };
        let (reason, hint) = match status {
            429 => (Reason::UpstreamPaused, None),
            503 if paused_until.is_some() => (Reason::UpstreamPaused, None),
            403 if passes && answer.forbids_file() => (
                Reason::UpstreamForbids,
                Some("it answers other requests, so this file alone is refused; ask its operator".into()),
            ),
            401 | 403 | 407 => (
                Reason::UpstreamRefused,
                Some(
                    "check the repository's `credentials`; `daylight repo show NAME` shows where they come from".into(),
                ),
            ),
            400..500 => (Reason::UpstreamRefused, None),
            500..600 => (Reason::UpstreamFailed, None),
            _ => (Reason::UpstreamInvalid, None),
        };
        let until = paused_until.filter(|_| reason == Reason::UpstreamPaused);
        let text = format!("the upstream answered {status}{words}");
        Self { until, status: Some(status), hint, ..Self::new(reason, text) }
    }

    /// The failure for a 404 although the upstream's own index lists the file.
    pub(crate) fn listed(answer: &Arriving) -> Self {
        let status = answer.status();
        let text = format!("the upstream answered {status} for a file that its own index lists");
        Self { status: Some(status), ..Self::new(Reason::UpstreamInvalid, text) }
    }

    /// The failure for a 404 at the place that an index has for the file.
    pub(crate) fn misplaced(answer: &Arriving) -> Self {
        let status = answer.status();
        let text = format!("the upstream answered {status} at the place that its index has for the file");
        Self { status: Some(status), ..Self::new(Reason::KojiFileMissing, text) }
    }

    /// The same, with the time of the next attempt that may succeed.
    pub(crate) fn again_at(self, until: Millis) -> Self {
        Self { until: Some(until), ..self }
    }

    /// The failure of a repository whose index was never read, because of this.
    pub(crate) fn unread(self, until: Millis) -> Self {
        let until = self.until.map_or(until, |paused| paused.max(until));
        Self { until: Some(until), ..Self::new(Reason::UpstreamUnread, self.detail()) }
    }

    /// Whether the upstream does not know the call at all (RFC 9110 15.5.6, 15.6.2).
    pub(crate) fn is_of_unknown_call(&self) -> bool {
        matches!(self.status, Some(405 | 501))
    }

    /// The failure for no response, while another member has answered long ago.
    pub(crate) fn late() -> Self {
        Self::new(
            Reason::UpstreamTimeout,
            "the upstream had not answered long after another one that has the file".into(),
        )
    }

    /// The failure for no response yet to the trial of an upstream that did not answer before.
    pub(crate) fn hung() -> Self {
        Self::new(
            Reason::UpstreamLeftAlone,
            "the upstream did not answer the last request, and a trial request is under way".into(),
        )
    }

    /// The failure for an HTML page in place of the file.
    pub(crate) fn page() -> Self {
        let hint = "the upstream may want a login, or a proxy on the way answers in its place";
        let text = "the upstream answered with an HTML page in place of the file";
        Self { hint: Some(hint.into()), ..Self::new(Reason::UpstreamInvalid, text.into()) }
    }

    /// The same failure, of the request for the checksum file. Without it nobody knows whether the file is right.
    pub(crate) fn of_checksum(self) -> Self {
        let text = format!("the `.sha1` of the file is not available: {}", self.text);
        // Other failures pass.
        let lasts = matches!(self.reason, Reason::UpstreamInvalid | Reason::UpstreamRefused | Reason::UpstreamForbids);
        let hint =
            "`daylight repo set NAME --checksums warn` takes files without a checksum, and marks them as unverified";
        Self { text, hint: if lasts { Some(hint.into()) } else { self.hint }, ..self }
    }

    pub(crate) fn differs(DigestMismatch { checksum, said, is }: &DigestMismatch) -> Self {
        let algorithm = checksum.ending();
        let text = format!("the file from the upstream has the {algorithm} {is}, and the upstream announced {said}");
        Self::new(Reason::UpstreamInvalid, text)
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
