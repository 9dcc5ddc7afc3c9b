//! Debian's Alertmanager receives alerts, groups them, and tells their ends. It forgets alerts that are not repeated, so they are.

use super::{ID, OTHER, body, mute, opens, quiet, taker};
use crate::world::{Alertmanager, Upstream, await_true, eventually};
use serde_json::Value;

/// A table of an Alertmanager.
pub(super) fn table(manager: &Alertmanager) -> String {
    format!("[[alerts.to]]\nname = \"ours\"\nkind = \"alertmanager\"\nurl = \"{}\"\nresend_s = 1\n", manager.url())
}

/// The notifications of an Alertmanager: the status, and the findings in their order.
fn told(people: &Upstream) -> Vec<(String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let one = |message: Value| {
        let alerts = message["alerts"].as_array().unwrap().iter();
        let mut findings: Vec<String> = alerts.map(|alert| text(&alert["labels"]["finding"])).collect();
        findings.sort();
        (text(&message["status"]), findings)
    };
    people.asked().iter().map(body).map(one).collect()
}

#[test]
fn alertmanager_receives_alerts_groups_them_and_tells_their_end() {
    let people = taker();
    let manager = Alertmanager::start(&format!("{}people", people.url()));
    let world = quiet(&table(&manager), &[]);
    opens(&world);
    let both = vec![OTHER.to_owned(), ID.to_owned()];
    await_true("people are told of both at once", || told(&people).contains(&("firing".to_owned(), both.clone())));
    let alert = manager.alerts().into_iter().find(|alert| alert["labels"]["finding"] == ID).unwrap();
    assert_eq!(alert["labels"]["alertname"], "contradictory-settings");
    assert_eq!(
        (&alert["labels"]["instance"], &alert["labels"]["kind"]),
        (&"packages.example.org:443".into(), &"cause".into())
    );
    let summary = alert["annotations"]["summary"].as_str().unwrap();
    assert!(summary.contains("has no effect while"), "{alert:#}");
    assert!(alert["generatorURL"].as_str().unwrap().starts_with("https://packages.example.org/#"), "{alert:#}");
    assert!(alert["startsAt"].as_str().unwrap().starts_with("2026-11-02T12:0"), "{alert:#}");
    // It is told again that they go on: otherwise it would take them for over after five minutes.
    let ends = |alert: &Value| alert["endsAt"].as_str().unwrap().to_owned();
    let later = eventually(|| {
        let found = manager.alerts().into_iter().find(|alert| alert["labels"]["finding"] == ID);
        let found = found.ok_or("it is gone")?;
        if ends(&found) > ends(&alert) { Ok(found) } else { Err(format!("it is not told again: {found}")) }
    });
    assert_eq!((&later["startsAt"], &later["fingerprint"]), (&alert["startsAt"], &alert["fingerprint"]));
    mute(&world, ID);
    mute(&world, OTHER);
    await_true("it has none any more", || manager.alerts().is_empty());
    await_true("people are told that both ended", || {
        told(&people).last().is_some_and(|(status, _)| status == "resolved")
    });
    // `daylight alerts test` is taken, too.
    let (said, code) = world.says("alerts test ours");
    assert!(code == Some(0) && said.contains("took the test alert and its end"), "{said}");
}
