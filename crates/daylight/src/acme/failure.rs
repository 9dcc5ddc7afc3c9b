//! Why an authority gave no certificate, in words for people who can do something about it.

use instant_acme::{Error, Problem};
use telemetry::{Event, Millis, Reason};

/// The longest description, in characters.
const WHY_MAX: usize = 300;
/// The beginning of the types of errors (RFC 8555 6.7).
const TYPES: &str = "urn:ietf:params:acme:error:";

/// Why a try failed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Failure {
    /// In lower case, without a full stop and without secrets.
    pub(super) why: String,
    /// What people can do about it.
    pub(super) hint: Option<String>,
    /// The authority could not be reached, or had a failure of its own: it is tried again sooner.
    pub(super) is_away: bool,
    /// It does not know the account.
    pub(super) is_unknown_account: bool,
    /// It asked for no try before this moment.
    pub(super) until: Option<Millis>,
    /// For events.
    pub(super) reason: Option<Reason>,
}

/// A call that brought no answer of the protocol.
#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    /// There was no response.
    #[error(transparent)]
    Client(#[from] client::Error),
    /// The response is none of the protocol: of a proxy, or of another server.
    #[error("`{host}` answered {status} to {method} `{path}`, and not as an authority does")]
    Status {
        /// The host that was called.
        host: String,
        /// Its status.
        status: u16,
        /// The method.
        method: String,
        /// The path.
        path: String,
    },
    /// The directory leads elsewhere without TLS.
    #[error("the authority names `{0}`, and every URL of it must begin with `https://` (RFC 8555 6.1)")]
    NotHttps(String),
    /// The request cannot be sent.
    #[error("the request cannot be sent: {0}")]
    Unsendable(String),
}

impl Failure {
    /// A refusal, or a mistake here.
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self { why: shown(&why.into()), reason: Some(Reason::UpstreamRefused), ..Self::default() }
    }

    /// The same with a hint.
    pub(super) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// A try that took too long.
    pub(super) fn slow(why: impl Into<String>) -> Self {
        Self { is_away: true, reason: Some(Reason::UpstreamTimeout), ..Self::new(why) }
    }

    /// A try that panicked at an answer of the authority.
    pub(super) fn panicked() -> Self {
        let why = "the client of ACME panicked at an answer of the authority: the log says where";
        Self { reason: Some(Reason::UpstreamInvalid), ..Self::new(why) }
    }

    /// A file of the data folder cannot be written.
    pub(super) fn of_file(error: &anyhow::Error) -> Self {
        Self { is_away: true, reason: Some(Reason::Io), ..Self::new(format!("{error:#}")) }
    }

    /// A failure of a call to `host`, while the server did what `what` says.
    pub(super) fn of(error: &Error, host: &str, what: &str) -> Self {
        match error {
            Error::Api(problem) => Self::of_problem(problem, host, what),
            Error::Other(other) => match other.downcast_ref() {
                Some(error) => Self::of_call(error, what),
                None => Self::new(format!("{what}: {other}")),
            },
            Error::Json(error) => Self {
                reason: Some(Reason::UpstreamInvalid),
                ..Self::new(format!("{what}: `{host}` does not answer as an authority does: {error}"))
                    .with_hint("`server.acme.directory` must be the URL of the directory (RFC 8555 7.1.1)")
            },
            other => Self::new(format!("{what}: {other}")),
        }
    }

    fn of_call(error: &CallError, what: &str) -> Self {
        let failure = Self::new(format!("{what}: {error}"));
        match error {
            CallError::Client(error) => {
                let hint = match error {
                    client::Error::Tls { .. } => Some(
                        "for an authority of a company, `server.acme.trust` names a PEM file with its root".to_owned(),
                    ),
                    error => error.hint().map(str::to_owned),
                };
                Self { is_away: true, hint, reason: Some(error.reason()), ..failure }
            }
            CallError::Status { status, .. } => {
                let is_away = matches!(status, 429 | 500..);
                let hint = "`server.acme.directory` must be the URL of the directory (RFC 8555 7.1.1)".to_owned();
                let reason = if is_away { Reason::UpstreamFailed } else { Reason::UpstreamRefused };
                Self { is_away, hint: (!is_away).then_some(hint), reason: Some(reason), ..failure }
            }
            CallError::NotHttps(_) | CallError::Unsendable(_) => failure,
        }
    }

    /// An error that the authority described (RFC 8555 6.7).
    pub(super) fn of_problem(problem: &Problem, host: &str, what: &str) -> Self {
        let kind = problem.r#type.as_deref().unwrap_or_default();
        let kind = kind.strip_prefix(TYPES).unwrap_or(kind);
        let says = problem.detail.as_deref().unwrap_or("no reason").trim().trim_end_matches('.');
        let parts: Vec<String> = problem
            .subproblems
            .iter()
            .filter_map(|part| Some(part.detail.as_deref()?.trim().trim_end_matches('.').to_owned()))
            .collect();
        let parts = if parts.is_empty() { String::new() } else { format!(": {}", parts.join("; ")) };
        let by = if kind.is_empty() { String::new() } else { format!(" ({kind})") };
        let is_away = kind == "serverInternal" || problem.status.is_some_and(|status| status >= 500);
        Self {
            hint: hint(kind).map(str::to_owned),
            is_away,
            is_unknown_account: kind == "accountDoesNotExist",
            reason: Some(if is_away { Reason::UpstreamFailed } else { Reason::UpstreamRefused }),
            ..Self::new(format!("{what}: `{host}` says: {says}{parts}{by}"))
        }
    }

    /// The description with its hint.
    pub(super) fn whole(&self) -> String {
        match &self.hint {
            Some(hint) => format!("{}; {hint}", self.why),
            None => self.why.clone(),
        }
    }
}

/// What people can do about an error of this type (RFC 8555 6.7).
fn hint(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "externalAccountRequired" => "this authority wants `server.acme.eab_key_id` and `server.acme.eab_key`",
        "rateLimited" => "the authority limits how often a name may be asked for, so wait",
        "rejectedIdentifier" => "the authority gives no certificate for a name of `server.acme.names`",
        "caa" => "a CAA record in the DNS of the name must allow this authority",
        "invalidContact" | "unsupportedContact" => "`server.acme.contact` must be a mail address",
        "userActionRequired" => "the authority wants its new terms to be accepted, at the URL that it names",
        "dns" => "the name must have an address in the DNS that the authority asks",
        _ => return None,
    })
}

/// A text for people, of which the authority may have written a part.
fn shown(text: &str) -> String {
    Event::text(text).chars().take(WHY_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: serde_json::Value) -> Failure {
        let problem: Problem = serde_json::from_value(json).unwrap();
        Failure::of(&Error::Api(problem), "ca.example", "cannot order a certificate")
    }

    #[test]
    fn an_error_of_the_authority_is_told_with_its_words_its_type_and_a_remedy() {
        let refused = of(serde_json::json!({
            "type": "urn:ietf:params:acme:error:externalAccountRequired", "detail": "External account needed.", "status": 403,
        }));
        assert_eq!(
            refused.whole(),
            "cannot order a certificate: `ca.example` says: External account needed (externalAccountRequired); \
             this authority wants `server.acme.eab_key_id` and `server.acme.eab_key`"
        );
        assert!(!refused.is_away && !refused.is_unknown_account);
        let parts = of(serde_json::json!({
            "type": "urn:ietf:params:acme:error:malformed", "detail": "Two names.",
            "subproblems": [{ "type": "a", "detail": "Bad one." }, { "type": "b", "detail": "Bad two" }],
        }));
        assert!(parts.why.ends_with("Two names: Bad one; Bad two (malformed)"), "{}", parts.why);
    }

    #[test]
    fn a_failure_of_the_authority_itself_and_an_unknown_account_are_told_apart() {
        assert!(of(serde_json::json!({ "type": "urn:ietf:params:acme:error:serverInternal" })).is_away);
        assert!(of(serde_json::json!({ "detail": "busy", "status": 503 })).is_away);
        assert!(of(serde_json::json!({ "type": "urn:ietf:params:acme:error:accountDoesNotExist" })).is_unknown_account);
    }

    #[test]
    fn what_the_authority_writes_is_cut_and_has_no_line_breaks() {
        let long = of(serde_json::json!({ "detail": format!("a\nb\u{1b}[31m{}", "x".repeat(5000)) })).why;
        assert_eq!(long.chars().count(), WHY_MAX);
        assert!(!long.contains(|c: char| c.is_control()), "{long}");
    }

    #[test]
    fn a_call_without_an_answer_of_the_protocol_tells_what_to_look_at() {
        let of = |error: CallError| Failure::of(&Error::Other(Box::new(error)), "ca.example", "cannot ask");
        let status = |status| CallError::Status {
            host: "ca.example:443".into(),
            status,
            method: "GET".into(),
            path: "/directory".into(),
        };
        let not_found = of(status(404));
        assert_eq!(
            not_found.why,
            "cannot ask: `ca.example:443` answered 404 to GET `/directory`, and not as an authority does"
        );
        assert!(!not_found.is_away && not_found.hint.unwrap().contains("server.acme.directory"));
        assert!(of(status(502)).is_away && of(status(429)).is_away);
        let away = of(CallError::Client(client::Error::NotListening { host: "ca.example:443".into() }));
        assert!(away.is_away);
        assert_eq!(away.reason, Some(Reason::UpstreamUnreachable));
    }
}
