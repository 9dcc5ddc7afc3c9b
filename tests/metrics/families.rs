//! What a server that did everything tells is valid by the rules of Prometheus, and the manual describes all of it and nothing else.

use crate::cluster;
use crate::objects;
use crate::tls::{Certificate, curl};
use crate::world::{FIRST, Gem, POSTGRES_PASSWORD, Postgres, Says, Upstream, World, promtool};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use telemetry::{BoundName, CacheName, PoolName};

/// The secrets of the settings.
const VARIABLES: &[(&str, &str)] = &[("DATABASE_PASSWORD", POSTGRES_PASSWORD), objects::NOWHERE_KEYS];

const MANUAL: &str = include_str!("../../docs/metrics.md");

#[track_caller]
pub(super) fn faultless(page: &str) {
    let checked = promtool(&std::env::temp_dir(), &["check", "metrics"], page);
    assert!(checked.status.success() && checked.stdout.is_empty() && checked.stderr.is_empty(), "{checked:?}");
}

/// The types of all families.
fn types(page: &str) -> BTreeMap<&str, &str> {
    page.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect()
}

/// The cells of the rows of a table of the manual that begin with a name in backticks.
fn rows<'a>(heading: &str) -> impl Iterator<Item = Vec<&'a str>> {
    let (_, section) = MANUAL.split_once(heading).unwrap();
    let table = section.lines().skip_while(|line| !line.starts_with("|--")).skip(1);
    let rows = table.take_while(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
}

/// A server of all formats that served, refused and failed.
fn busy() -> (World, Upstream) {
    let (world, upstream) = (World::start(), Upstream::start());
    let (admin, anon) = (world.admin(), world.anon());
    world.tree("libs", "maven");
    world.repository("vault", true);
    upstream.file("/tools/lamp", "bytes");
    upstream.says("/tools/broken", Says::status(500));
    world.remote_of("raw", "far", &upstream.url());
    world.make(&json!({ "name": "all", "format": "gem", "kind": "group", "members": [FIRST] }));
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    anon.push(FIRST, &Gem::new("lamp", "1.0.1")).expect(401);
    admin.put("libs", "org/example/lamp/1.0/lamp-1.0.jar", b"bytes").expect(201);
    for path in [format!("{FIRST}/versions"), "all/info/lamp".into(), "far/tools/lamp".into(), "far/tools/lamp".into()]
    {
        anon.get(&format!("/repository/{path}")).expect(200);
    }
    for (path, status) in [("far/tools/none", 404), ("far/tools/broken", 502), ("vault/versions", 401)] {
        anon.get(&format!("/repository/{path}")).expect(status);
    }
    (world, upstream)
}

#[test]
fn what_a_busy_server_tells_has_no_fault_for_promtool() {
    let (world, _upstream) = busy();
    let answer = world.anon().get("/metrics").expect(200);
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    faultless(answer.text());
    faultless(world.admin().get("/metrics").expect(200).text());
}

#[test]
fn the_manual_has_every_metric_with_its_type_and_no_other() {
    let certificate = Certificate::new();
    // Nobody listens there.
    let receiver = "[[alerts.to]]\nname = \"ours\"\nkind = \"alertmanager\"\nurl = \"http://127.0.0.1:1\"\n";
    let postgres = Postgres::start();
    let (tls, database, objects) = (certificate.settings(), cluster::settings(&postgres), objects::NOWHERE);
    let world = World::start_with_file_and(&format!("{tls}\n{objects}\n{database}\n{receiver}"), VARIABLES);
    let answer = curl(&world, &certificate.file(), "/metrics", &[]);
    let page = String::from_utf8(answer.stdout).unwrap();
    faultless(&page);
    let told: BTreeMap<&str, &str> = rows("\n## All metrics\n").map(|row| (row[0].trim_matches('`'), row[1])).collect();
    assert_eq!(told, types(&page));
    let expires = page
        .lines()
        .find_map(|line| line.strip_prefix("daylight_certificate_expiry_timestamp_seconds{certificate=\"server\"} "));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    let left = expires.unwrap().parse::<f64>().unwrap() - now;
    assert!((86_400.0..=2.0 * 86_400.0).contains(&left), "{left} s are left of two days");
}

#[test]
fn the_manual_has_the_labels_of_every_metric() {
    let (world, _upstream) = busy();
    let page = world.admin().get("/metrics").expect(200).text().to_owned();
    let mut labels: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in page.lines().filter(|line| !line.starts_with('#')) {
        let (name, rest) = line.split_once(['{', ' ']).unwrap();
        let name = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
        // No value here has a comma or a brace.
        let rest = rest.split_once('}').map_or("", |(labels, _)| labels);
        let keys = rest.split(',').filter_map(|label| label.split_once('=')).map(|(key, _)| key.to_owned());
        labels.entry(name.to_owned()).or_default().extend(keys.filter(|key| key != "le"));
    }
    for row in rows("\n## All metrics\n") {
        let told: BTreeSet<String> = row[2]
            .split(", ")
            .filter(|label| !label.is_empty())
            .map(|label| label.trim_matches('`').to_owned())
            .collect();
        let name = row[0].trim_matches('`');
        assert!(labels.get(name).is_none_or(|seen| *seen == told), "{name}: {told:?}, {:?}", labels.get(name));
    }
}

/// A cell of a table.
fn cell(setting: Option<&str>) -> String {
    setting.map_or_else(String::new, |setting| format!("`{setting}`"))
}

#[test]
fn the_manual_has_every_bound_with_its_unit_and_its_setting() {
    let told: Vec<String> = rows("\n## Bounds\n").map(|row| row.join(" ")).collect();
    let declared = BoundName::ALL.iter().map(|bound| {
        format!("`{}` {} {} {}", bound.as_str(), bound.unit().as_str(), cell(bound.setting()), bound.doc())
    });
    assert_eq!(told, declared.collect::<Vec<_>>());
}

#[test]
fn the_manual_has_every_cache_and_every_pool_with_its_setting() {
    let told = |heading| rows(heading).map(|row| row.join(" ")).collect::<Vec<_>>();
    let caches =
        CacheName::ALL.iter().map(|cache| format!("`{}` {} {}", cache.as_str(), cell(cache.setting()), cache.doc()));
    assert_eq!(told("\n## Caches\n"), caches.collect::<Vec<_>>());
    let pools = PoolName::ALL.iter().map(|pool| format!("`{}` {} {}", pool.as_str(), cell(pool.setting()), pool.doc()));
    assert_eq!(told("\n## Pools\n"), pools.collect::<Vec<_>>());
}
