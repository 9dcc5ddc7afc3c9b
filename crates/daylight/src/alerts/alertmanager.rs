//! Prometheus Alertmanager, API v2: an array of alerts. It groups them by their labels, and forgets one that is not repeated.

use super::alert::Alert;
use serde_json::{Value, json};
use telemetry::Millis;

/// The body of `POST /api/v2/alerts`. `now`: by the clock of the machine, because Alertmanager compares moments with its own. An alert that goes
/// on has no end: Alertmanager gives it one, `resolve_timeout` from then, by its own clock.
pub(super) fn body(alerts: &[Alert], now: Millis) -> Value {
    alerts.iter().map(|alert| one(alert, now)).collect()
}

fn one(alert: &Alert, now: Millis) -> Value {
    let mut one = json!({
        // The labels are the identity of the alert, so nothing that changes is among them.
        "labels": {
            "alertname": alert.key, "finding": alert.id, "subject": alert.subject, "kind": alert.kind.as_str(), "instance": alert.instance(),
        },
        "annotations": {
            "summary": alert.sentence, "description": alert.description(), "lost_seconds_per_hour": alert.lost_s_per_hour.to_string(),
            "severity": severity(alert),
        },
        // An alert that begins after its end is refused.
        "startsAt": alert.since.min(now).to_string(),
        "generatorURL": alert.link(),
    });
    if !alert.node.is_empty() {
        one["labels"]["node"] = alert.node.as_str().into();
    }
    if alert.ended.is_some() {
        one["endsAt"] = now.to_string().into();
    }
    one
}

/// How urgent it is, by the worst that clients notice of it.
pub(super) fn severity(alert: &Alert) -> &'static str {
    use insight::FindingKind as Kind;
    match alert.worst {
        _ if alert.is_test => "info",
        Kind::Impact => "critical",
        Kind::Failure => "error",
        Kind::Cause => "warning",
    }
}

#[cfg(test)]
mod tests {
    use super::super::alert::tests::alert;
    use super::*;

    #[test]
    fn the_labels_of_an_alert_are_those_of_its_end_and_only_the_end_has_a_moment() {
        let now = Millis(1_793_534_500_000);
        let (open, ended) = (alert("a@b"), alert("a@b").ended(Millis(0)));
        let body = body(&[open, ended], now);
        assert_eq!(body[0]["labels"], body[1]["labels"]);
        assert_eq!(body[0]["labels"]["alertname"], "a");
        assert_eq!((body[0].get("endsAt"), &body[1]["endsAt"]), (None, &Value::from("2026-11-01T12:01:40.000Z")));
        assert_eq!(body[0]["startsAt"], "2026-11-01T12:00:00.000Z");
    }
}
