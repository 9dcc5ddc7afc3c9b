//! Where a receiver is, and how alerts are sent to it: one attempt.

use super::alert::Alert;
use super::{alertmanager, command, pagerduty, webhook};
use crate::config::{DeclaredReceiver, Error, ReceiverKind, References};
use bytes::Bytes;
use client::{Client, ClientOptions, Request, Response, Secret, Trust};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderValue, Method};
use repository::References as _;
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

/// Where a receiver is.
#[derive(Debug)]
pub(super) enum Address {
    /// `token`: sent as `Authorization: Bearer`, for a proxy in front of it.
    Alertmanager { url: String, token: Option<Secret> },
    /// `key`: the integration key of a service.
    Pagerduty { url: String, key: Secret },
    /// `key`: the bytes that sign.
    Webhook { url: String, key: Option<Vec<u8>> },
    /// A program and its arguments.
    Command(Vec<String>),
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
            (ReceiverKind::Command, _) => Self::Command(declared.command.clone()),
        })
    }

    /// What people may know of it: the host or the program.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Alertmanager { url, .. } | Self::Pagerduty { url, .. } | Self::Webhook { url, .. } => {
                client::host_of(url).unwrap_or_default()
            }
            Self::Command(command) => command.first().cloned().unwrap_or_default(),
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
            Self::Command(command) => {
                let body = webhook::body(name, alerts, now).to_string();
                return command::run(command, &body, ATTEMPT).await.map_err(|error| NotTaken {
                    reason: match error {
                        command::CommandError::TooSlow { .. } => Reason::UpstreamTimeout,
                        command::CommandError::NotRun { .. } => Reason::Io,
                        command::CommandError::Failed { .. } => Reason::UpstreamFailed,
                    },
                    why: error.to_string(),
                    pause: None,
                    is_for_good: false,
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
            Err(error) => {
                Err(NotTaken { why: error.to_string(), reason: error.reason(), pause: None, is_for_good: false })
            }
        }
    }

    fn refused(&self, answer: &Response) -> NotTaken {
        let status = answer.status.as_u16();
        let reason = match status {
            429 => Reason::UpstreamPaused,
            500.. => Reason::UpstreamFailed,
            _ => Reason::UpstreamRefused,
        };
        let text = String::from_utf8_lossy(&answer.body);
        let text: String = Event::text(text.trim()).chars().take(SHOWN_MAX).collect();
        let says = if text.is_empty() { String::new() } else { format!(": {text}") };
        let pause = answer.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let pause = pause.and_then(|text| client::retry_after(text, Clock::default().now()));
        NotTaken {
            why: format!("`{}` answered {status}{says}", self.shown()),
            reason,
            pause: pause.map(|pause| pause.min(PAUSE_MAX)),
            // PagerDuty documents that an event that it answered with 400 is not to be sent again.
            is_for_good: matches!(self, Self::Pagerduty { .. }) && status == 400,
        }
    }
}
