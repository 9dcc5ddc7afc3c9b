//! While an upstream is down, the alerts name it and nothing else; once its circuit's time is over without a call, none does.

use super::alerts::rules;
use crate::world::{Upstream, World, await_true, promtool};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tempfile::TempDir;

/// The series that the two alerts read, with their values minute by minute.
type Series = BTreeMap<String, Vec<f64>>;

fn scrape(world: &World, minute: usize, series: &mut Series) {
    let page = world.admin().get("/metrics").expect(200);
    for line in page.text().lines() {
        let named =
            ["daylight_outcomes_total{", "daylight_upstream_circuit_open{"].iter().any(|name| line.starts_with(name));
        let Some((name, value)) = line.rsplit_once(' ').filter(|_| named) else { continue };
        let values = series.entry(name.replace('{', "{instance=\"a\",")).or_default();
        values.resize(minute, 0.0);
        values.push(value.parse().unwrap());
    }
}

/// What promtool says to the alerts at minute 9.
fn alerts(series: &Series, expected: &[(&str, &str)]) {
    let mut test =
        "rule_files:\n  - daylight.rules.yml\nevaluation_interval: 1m\ntests:\n  - interval: 1m\n    input_series:\n"
            .to_owned();
    for (name, values) in series {
        let values = values.iter().map(f64::to_string).collect::<Vec<_>>().join(" ");
        writeln!(test, "      - series: '{name}'\n        values: {values}").unwrap();
    }
    test += "    alert_rule_test:\n";
    for (alert, labels) in expected {
        writeln!(test, "      - eval_time: 9m\n        alertname: {alert}").unwrap();
        if !labels.is_empty() {
            writeln!(test, "        exp_alerts:\n          - {labels}").unwrap();
        }
    }
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("daylight.rules.yml"), rules()).unwrap();
    std::fs::write(folder.path().join("test.yml"), test).unwrap();
    let said = promtool(folder.path(), &["test", "rules", "test.yml"], "");
    assert!(
        said.status.success(),
        "{}{}",
        String::from_utf8_lossy(&said.stdout),
        String::from_utf8_lossy(&said.stderr)
    );
}

/// A minute after the other an upstream is down and `asks` says in which of them clients ask.
fn minutes(asks: impl Fn(usize) -> bool) -> (Series, String) {
    let (world, upstream) = (World::start_in_conformance(&[]), Upstream::start());
    world.set_time("2026-11-02T12:00:00Z");
    world.remote_of("raw", "far", &upstream.url());
    upstream.unplug();
    await_true("its circuit is open", || {
        world.anon().file("far", "tool");
        world.anon().get("/health/ready").expect(200).text().contains("circuits are open")
    });
    let mut series = Series::new();
    for minute in 0..10 {
        if minute > 0 {
            world.set_time(&format!("2026-11-02T12:{minute:02}:00Z"));
        }
        for number in 0..5 {
            if asks(minute) {
                assert!(world.anon().file("far", &format!("{minute}/{number}")).status >= 502);
            }
        }
        scrape(&world, minute, &mut series);
    }
    (series, upstream.address().to_string())
}

#[test]
fn requests_for_an_upstream_that_is_down_count_as_failed_and_not_as_refused_for_lack_of_room() {
    let (series, host) = minutes(|_| true);
    let of =
        |outcome: &str| series[&format!("daylight_outcomes_total{{instance=\"a\",outcome=\"{outcome}\"}}")].clone();
    assert_eq!(of("shed"), [0.0; 10]);
    assert!(of("failed").last().unwrap() >= &50.0, "{series:?}");
    let named = format!(
        "exp_labels: {{ severity: warning, instance: a, host: \"{host}\" }}\n            exp_annotations: {{ summary: \"a does not call {host}, which failed again and again\" }}"
    );
    alerts(&series, &[("DaylightRequestsRefused", ""), ("DaylightUpstreamNotCalled", &named)]);
}

#[test]
fn a_blip_that_nobody_calls_after_alerts_nobody_minutes_later() {
    let (series, host) = minutes(|minute| minute == 0);
    let open = &series[&format!("daylight_upstream_circuit_open{{instance=\"a\",host=\"{host}\"}}")];
    assert_eq!((open[0], &open[1..]), (1.0, &[0.0; 9][..]));
    alerts(&series, &[("DaylightRequestsRefused", ""), ("DaylightUpstreamNotCalled", "")]);
}
