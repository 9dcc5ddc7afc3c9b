//! PagerDuty, Events API v2: one event for each alert. Its documentation: developer.pagerduty.com, "Send an Alert Event".

use super::alert::Alert;
use super::alertmanager::severity;
use client::Secret;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// The longest summary, in characters.
const SUMMARY_MAX: usize = 1024;
/// The longest key by which events are one alert, in characters.
const KEY_MAX: usize = 255;

/// The event of an alert.
pub(super) fn body(alert: &Alert, key: &Secret) -> Value {
    let action = if alert.ended.is_some() { "resolve" } else { "trigger" };
    json!({
        "routing_key": key.expose(),
        "event_action": action,
        "dedup_key": dedup_key(alert),
        "client": "Daylight",
        "client_url": alert.server,
        "payload": {
            "summary": cut(&alert.sentence, SUMMARY_MAX),
            "source": alert.instance(),
            "severity": severity(alert),
            "timestamp": alert.since.to_string(),
            "component": alert.subject,
            "group": alert.kind.as_str(),
            "class": alert.key,
            "custom_details": {
                "finding": alert.id,
                "advice": alert.advice,
                "explains": alert.explains,
                "lost_s_per_hour": alert.lost_s_per_hour,
                "since": alert.since.to_string(),
                "ended": alert.ended.map(|at| at.to_string()),
            },
        },
        "links": [{ "href": alert.link(), "text": "The finding" }],
    })
}

/// The server, the node of several, and the id of the finding: several servers may report to one service.
fn dedup_key(alert: &Alert) -> String {
    let key = match alert.node.as_str() {
        "" => format!("{}/{}", alert.instance(), alert.id),
        node => format!("{}/{node}/{}", alert.instance(), alert.id),
    };
    if key.chars().count() <= KEY_MAX {
        return key;
    }
    let digest = data_encoding::HEXLOWER.encode(&Sha256::digest(&key));
    format!("{}~{digest}", key.chars().take(KEY_MAX - 1 - digest.len()).collect::<String>())
}

fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    text.chars().take(most - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::super::alert::tests::alert;
    use super::*;
    use telemetry::Millis;

    #[test]
    fn an_event_has_the_same_key_at_its_end_and_fits_into_the_limits() {
        let secret = Secret::new("0123456789abcdef0123456789abcdef".to_owned());
        let long = Alert { sentence: "é".repeat(3000), ..alert(&format!("slow@member:{}", "x".repeat(400))) };
        let [open, ended] = [body(&long, &secret), body(&long.ended(Millis(1)), &secret)];
        assert_eq!((&open["event_action"], &ended["event_action"]), (&"trigger".into(), &"resolve".into()));
        assert_eq!(open["dedup_key"], ended["dedup_key"]);
        assert_eq!(open["dedup_key"].as_str().unwrap().chars().count(), KEY_MAX);
        assert_eq!(open["payload"]["summary"].as_str().unwrap().chars().count(), SUMMARY_MAX);
        let other = body(&alert(&format!("slow@member:{}y", "x".repeat(400))), &secret);
        assert_ne!(open["dedup_key"], other["dedup_key"], "what differs beyond the limit differs");
        assert_eq!(body(&alert("a@b"), &secret)["dedup_key"], "packages.example.org:443/a@b");
        let of_node = Alert { node: "n1".to_owned(), ..alert("a@b") };
        assert_eq!(body(&of_node, &secret)["dedup_key"], "packages.example.org:443/n1/a@b");
    }
}
