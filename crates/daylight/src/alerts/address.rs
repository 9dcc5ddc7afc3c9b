//! Where a receiver is, and how alerts are sent to it: one attempt.

use super::alert::Alert;
use super::{alertmanager, command, pagerduty, webhook};
use crate::config::{DeclaredReceiver, Error, ReceiverKind, References};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use client::{Client, ClientOptions, Request, Response, Secret, Trust};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method};
use repository::References as _;
use std::fmt;
use std::time::Duration;
use telemetry::{Clock, Event, Reason};

/// How long an attempt may take, whatever the receiver does.
pub(super) const ATTEMPT: Duration = Duration::from_secs(10);
/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(5);
/// The largest answer of a receiver, in bytes.
const ANSWER_MAX: u64 = 64 << 10;
/// The bytes of an answer that are shown.
const SHOWN_MAX: usize = 200;
/// The longest pause that a receiver may ask for.
const PAUSE_MAX: Duration = Duration::from_secs(60 * 60);
/// Alerts in one message.
const BATCH: usize = 50;

/// The variables of the server's environment that a command gets.
const VARIABLES: [&str; 4] = ["PATH", "HOME", "LANG", "TZ"];
/// The shortest path of a URL that is taken for a secret, in bytes.
const SECRET_PATH_MIN: usize = 8;

/// Where a receiver is.
pub(super) enum Address {
    /// `token`: sent as `Authorization: Bearer`, for a proxy in front of it.
    Alertmanager { url: String, token: Option<Secret> },
    /// `key`: the integration key of a service.
    Pagerduty { url: String, key: Secret },
    /// `key`: the bytes that sign.
    Webhook { url: String, key: Option<Vec<u8>> },
    /// A program and its arguments, with its environment. `key`: the variable of its `key_env`.
    Command { command: Vec<String>, environment: Vec<(String, Secret)>, key: Option<Secret> },
}

impl fmt::Debug for Address {
    /// Its URL and its keys may be secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({})", self.shown())
    }
}

/// Why an attempt failed.
#[derive(Debug)]
pub(super) struct NotTaken {
    /// The cause, for people.
    pub(super) why: String,
    /// The cause, for events.
    pub(super) reason: Reason,
    /// The pause that the receiver asks for.
    pub(super) pause: Option<Duration>,
    /// The same message will never be taken.
    pub(super) is_for_good: bool,
    /// The receiver cannot have taken anything of it.
    pub(super) is_untaken: bool,
}

impl Address {
    /// With its secrets, which are read now.
    pub(super) fn of(declared: &DeclaredReceiver, references: &References) -> Result<Self, Error> {
        let refused =
            |what: String, hint: String| Error::Contradiction { text: format!("{}: {what}", declared.place), hint };
        let secret = declared.key_env.as_ref().map(|name| references.secret(&format!("env:{name}"))).transpose();
        let secret = secret.map_err(|error| refused(error.to_string(), error.hint().to_owned()))?;
        let url = declared.url.clone();
        Ok(match (declared.kind, secret) {
            (ReceiverKind::Alertmanager, token) => Self::Alertmanager { url, token },
            (ReceiverKind::Pagerduty, Some(key)) => Self::Pagerduty { url, key },
            (ReceiverKind::Pagerduty, None) => {
                return Err(refused("PagerDuty needs `key_env`".to_owned(), "name a variable with its key".to_owned()));
            }
            (ReceiverKind::Webhook, secret) => {
                let key = secret.as_ref().map(webhook::key);
                if matches!(key, Some(None)) {
                    let what = "the secret of the webhook begins with `whsec_`, and is not base64 behind it".to_owned();
                    return Err(refused(what, "copy it again from the settings of the receiver".to_owned()));
                }
                Self::Webhook { url, key: key.flatten() }
            }
            (ReceiverKind::Command, key) => {
                let names = VARIABLES.into_iter().chain(declared.key_env.as_deref());
                let set = |name: &str| Some((name.to_owned(), references.secret(&format!("env:{name}")).ok()?));
                Self::Command { command: declared.command.clone(), environment: names.filter_map(set).collect(), key }
            }
        })
    }

    /// What people may know of it: the host or the program.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Alertmanager { url, .. } | Self::Pagerduty { url, .. } | Self::Webhook { url, .. } => {
                client::host_of(url).unwrap_or_default()
            }
            Self::Command { command, .. } => command.first().cloned().unwrap_or_default(),
        }
    }

    /// How many alerts one message has at most.
    pub(super) fn batch(&self) -> usize {
        if matches!(self, Self::Pagerduty { .. }) { 1 } else { BATCH }
    }

    /// Sends one message, once, to the receiver of this name.
    pub(super) async fn send(&self, name: &str, alerts: &[Alert]) -> Result<(), NotTaken> {
        // Receivers compare moments with their own clocks.
        let now = Clock::default().now();
        let (url, token, body, headers) = match self {
            Self::Command { command, environment, .. } => {
                let body = webhook::body(name, alerts, now).to_string();
                return command::run(command, environment, &body, ATTEMPT).await.map_err(|error| NotTaken {
                    reason: match error {
                        command::CommandError::TooSlow { .. } => Reason::UpstreamTimeout,
                        command::CommandError::NotRun { .. } => Reason::Io,
                        command::CommandError::Failed { .. } => Reason::UpstreamFailed,
                    },
                    why: self.without_secrets(error.to_string()),
                    pause: None,
                    is_for_good: false,
                    is_untaken: false,
                });
            }
            Self::Alertmanager { url, token } => {
                (url, token.clone(), alertmanager::body(alerts, now).to_string(), HeaderMap::new())
            }
            Self::Pagerduty { url, key } => {
                let Some(alert) = alerts.first() else { return Ok(()) };
                (url, None, pagerduty::body(alert, key).to_string(), HeaderMap::new())
            }
            Self::Webhook { url, key } => {
                let body = webhook::body(name, alerts, now).to_string();
                let headers = webhook::headers(alerts, &body, key.as_deref(), now);
                (url, None, body, headers)
            }
        };
        let mut request =
            Request { method: Method::POST, url: url.clone(), headers, token, body: Bytes::from(body).into() };
        request.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let options = ClientOptions {
            connect_timeout: CONNECT,
            total_timeout: ATTEMPT,
            max_body_bytes: ANSWER_MAX,
            trust: Trust::MACHINE,
        };
        match Client::new(options).call(request).await {
            Ok(answer) if answer.status.is_success() => Ok(()),
            Ok(answer) => Err(self.refused(&answer)),
            Err(error) => Err(NotTaken {
                why: error.to_string(),
                reason: error.reason(),
                pause: None,
                is_for_good: false,
                // Nothing was sent.
                is_untaken: matches!(error, client::Error::NotListening { .. } | client::Error::Unresolved { .. }),
            }),
        }
    }

    /// A text of the receiver without the secrets that it was sent.
    fn without_secrets(&self, text: String) -> String {
        let path = |url: &str| {
            let (_, rest) = url.split_once("://")?;
            rest.find('/').and_then(|at| rest.get(at..)).filter(|path| path.len() >= SECRET_PATH_MIN).map(str::to_owned)
        };
        let secrets = match self {
            Self::Alertmanager { token: key, .. } | Self::Command { key, .. } => {
                vec![key.as_ref().map(|key| key.expose().to_owned())]
            }
            Self::Pagerduty { key, .. } => vec![Some(key.expose().to_owned())],
            Self::Webhook { url, key } => {
                let text = key.as_ref().and_then(|key| String::from_utf8(key.clone()).ok());
                vec![key.as_ref().map(|key| STANDARD.encode(key)), text, path(url)]
            }
        };
        let secrets = secrets.into_iter().flatten().filter(|secret| !secret.is_empty());
        secrets.fold(text, |text, secret| text.replace(&secret, "***"))
    }

    fn refused(&self, answer: &Response) -> NotTaken {
        let status = answer.status.as_u16();
        let reason = match status {
            429 => Reason::UpstreamPaused,
            500.. => Reason::UpstreamFailed,
            _ => Reason::UpstreamRefused,
        };
        let text = self.without_secrets(String::from_utf8_lossy(&answer.body).into_owned());
        let text: String = Event::text(text.trim()).chars().take(SHOWN_MAX).collect();
        let says = if text.is_empty() { String::new() } else { format!(": {text}") };
        let pause = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let pause = pause.and_then(|text| client::retry_after(text, Clock::default().now()));
        // PagerDuty documents that an event that it answered with 400 is not to be sent again.
        let is_for_good = matches!(self, Self::Pagerduty { .. }) && status == 400;
        NotTaken {
            why: format!("`{}` answered {status}{says}", self.shown()),
            reason,
            pause: pause.map(|pause| pause.min(PAUSE_MAX)),
            is_for_good,
            is_untaken: is_for_good || status == 429,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_a_receiver_that_repeats_a_secret_nor_its_description_shows_it() {
        let url = "https://chat.example.org/hooks/T0K3N".to_owned();
        let hook = Address::Webhook { url, key: Some(b"hush-hush".to_vec()) };
        let said = hook.without_secrets("no hush-hush (aHVzaC1odXNo) at /hooks/T0K3N".to_owned());
        assert_eq!(said, "no *** (***) at ***");
        assert_eq!(format!("{hook:?}"), "Address(chat.example.org:443)");
        let key = Secret::new("0123456789abcdef".to_owned());
        let pager = Address::Pagerduty { url: "https://events.example.org/v2/enqueue".to_owned(), key };
        let said = pager.without_secrets("`0123456789abcdef` is unknown at /v2/enqueue".to_owned());
        assert_eq!(said, "`***` is unknown at /v2/enqueue");
    }
}
