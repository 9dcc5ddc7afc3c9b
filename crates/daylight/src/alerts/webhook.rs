//! Webhooks with the headers of Standard Webhooks 1.0 (standardwebhooks.com): an id that a repetition has, too, the moment, and a signature.

use super::alert::Alert;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use client::Secret;
use hmac::{Hmac, KeyInit, Mac};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use telemetry::Millis;

/// How a secret in base64 begins. Others are taken as they are.
const BASE64: &str = "whsec_";
/// The type of the message.
const TYPE: &str = "findings.changed";

/// The bytes that sign. `None`: the secret begins like one in base64, and is none.
pub(super) fn key(secret: &Secret) -> Option<Vec<u8>> {
    match secret.expose().strip_prefix(BASE64) {
        Some(text) => STANDARD.decode(text).ok().filter(|key| !key.is_empty()),
        None => Some(secret.expose().as_bytes().to_vec()),
    }
}

/// The message of a webhook and of a command.
pub(super) fn body(receiver: &str, alerts: &[Alert], now: Millis) -> Value {
    let server = alerts.first().map(|alert| alert.server.as_str());
    json!({
        "type": TYPE, "timestamp": now.to_string(),
        "data": { "receiver": receiver, "server": server, "alerts": alerts.iter().map(Alert::json).collect::<Vec<_>>() },
    })
}

/// The headers of a message. `now`: by the clock of the machine, because receivers refuse old messages.
pub(super) fn headers(alerts: &[Alert], body: &str, key: Option<&[u8]>, now: Millis) -> HeaderMap {
    let (id, seconds) = (id(alerts), now.seconds());
    let mut headers = HeaderMap::new();
    let signature = key.and_then(|key| signature(key, &id, seconds, body));
    let all =
        [("webhook-id", Some(id)), ("webhook-timestamp", Some(seconds.to_string())), ("webhook-signature", signature)];
    for (name, value) in all {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            headers.insert(HeaderName::from_static(name), value);
        }
    }
    headers
}

/// The id of a message: the same for the same changes of the same findings, also after a crash, so that a receiver recognises it.
fn id(alerts: &[Alert]) -> String {
    let mut hash = Sha256::new();
    for alert in alerts {
        let state = if alert.ended.is_some() { "closed" } else { "open" };
        hash.update(format!("{}\n{}\n{}\n{}\n{state}\n", alert.server, alert.id, alert.since.0, alert.telling));
    }
    let digest = data_encoding::HEXLOWER.encode(&hash.finalize());
    format!("msg_{}", &digest[..32])
}

fn signature(key: &[u8], id: &str, seconds: i64, body: &str) -> Option<String> {
    let mut hmac = Hmac::<Sha256>::new_from_slice(key).ok()?;
    hmac.update(format!("{id}.{seconds}.{body}").as_bytes());
    Some(format!("v1,{}", STANDARD.encode(hmac.finalize().into_bytes())))
}

#[cfg(test)]
mod tests {
    use super::super::alert::tests::alert;
    use super::*;

    #[test]
    fn a_message_is_signed_as_the_published_example_is() {
        // The example of the specification and of its libraries.
        let key = key(&Secret::new("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned())).unwrap();
        let signed = signature(&key, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, r#"{"test": 2432232314}"#);
        assert_eq!(signed.unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_repetition_has_the_id_of_the_first_message_and_other_changes_have_another() {
        let of = |alerts: &[Alert], now| {
            let headers = headers(alerts, "{}", Some(b"hush"), Millis(now));
            headers["webhook-id"].to_str().unwrap().to_owned()
        };
        let first = of(&[alert("a@b")], 1000);
        let retold = Alert { sentence: "It is slower now".to_owned(), ..alert("a@b") };
        assert_eq!(first, of(&[retold], 9000), "the same beginning of the same finding");
        assert_ne!(first, of(&[alert("a@b").ended(Millis(5))], 1000));
        assert_ne!(first, of(&[alert("a@c")], 1000));
        assert_ne!(first, of(&[Alert { telling: 1, ..alert("a@b") }], 1000), "it is told again after a mute");
        assert_ne!(first, of(&[alert("a@b"), alert("a@c")], 1000));
    }

    #[test]
    fn without_a_secret_there_is_no_signature_and_a_broken_one_is_refused() {
        assert!(!headers(&[alert("a@b")], "{}", None, Millis(0)).contains_key("webhook-signature"));
        assert_eq!(key(&Secret::new("whsec_??".to_owned())), None);
        assert_eq!(key(&Secret::new("hush".to_owned())), Some(b"hush".to_vec()));
    }
}
