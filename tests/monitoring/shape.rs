//! The dashboard has the form that Grafana publishes, and each operation, bound, cache, pool and check is in it.

use super::dashboard::dashboard;
use crate::world::{npm_package, write};
use insight::check_list;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::process::Command;
use telemetry::{BoundName, CacheName, Op, PoolName};
use tempfile::TempDir;

/// All panels that ask something, also those of closed rows.
pub(super) fn panels() -> Vec<Value> {
    let all = dashboard()["panels"].as_array().unwrap().clone();
    let inside = |panel: Value| match panel["type"].as_str() {
        Some("row") => panel["panels"].as_array().unwrap().clone(),
        _ => vec![panel],
    };
    all.into_iter().flat_map(inside).collect()
}

/// The queries of a panel.
pub(super) fn queries(panel: &Value) -> Vec<String> {
    let targets = panel["targets"].as_array().unwrap().iter();
    targets.map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_dashboard_has_the_published_form_of_grafana() {
    let folder = TempDir::new().unwrap();
    std::os::unix::fs::symlink(npm_package("monitoring/grafana", ""), folder.path().join("node_modules")).unwrap();
    let mut script = include_str!("grafana/check.ts").to_owned();
    writeln!(script, "const dashboard: Json<Dashboard> = {};", dashboard()).unwrap();
    for (number, panel) in panels().iter().enumerate() {
        let (options, field) = match panel["type"].as_str().unwrap() {
            "timeseries" => ("Lines", Some("LinesField")),
            "table" => ("Table", Some("TableField")),
            "stat" => ("Stat", None),
            other => panic!("a panel {other}"),
        };
        writeln!(script, "const options{number}: Json<{options}> = {};", panel["options"]).unwrap();
        if let Some(field) = field {
            let custom = &panel["fieldConfig"]["defaults"]["custom"];
            writeln!(script, "const field{number}: Json<Partial<{field}>> = {custom};").unwrap();
        }
    }
    write(&folder.path().join("check.ts"), &script);
    let mut check = Command::new("node");
    check.arg(npm_package("browser", "typescript/bin/tsc")).current_dir(folder.path());
    check.args(["--noEmit", "--strict", "--skipLibCheck", "--target", "es2022", "--module", "preserve", "check.ts"]);
    let ran = check.output().unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{}", said.chars().take(4000).collect::<String>());
}

#[test]
fn panels_have_titles_places_and_numbers_of_their_own_and_few_queries() {
    let (mut ids, mut titles) = (BTreeSet::new(), BTreeMap::new());
    let dashboard = dashboard();
    for row in dashboard["panels"].as_array().unwrap() {
        assert!(ids.insert(row["id"].as_u64().unwrap()), "{row}");
        let mut places = BTreeSet::new();
        for panel in row["panels"].as_array().into_iter().flatten() {
            assert!(ids.insert(panel["id"].as_u64().unwrap()), "{panel}");
            let place = &panel["gridPos"];
            let at = |key: &str| place[key].as_u64().unwrap();
            assert!(at("x") + at("w") <= 24 && places.insert((at("y"), at("x"))), "{panel}");
        }
    }
    for panel in panels() {
        let (title, queries) = (panel["title"].as_str().unwrap().to_owned(), queries(&panel));
        assert!(!title.is_empty() && !panel["fieldConfig"]["defaults"]["unit"].as_str().unwrap().is_empty(), "{panel}");
        let most = if panel["type"] == "table" { 7 } else { 4 };
        assert!((1..=most).contains(&queries.len()), "{title} has {} queries", queries.len());
        assert!(queries.iter().all(|query| query.contains("instance=~\"$instance\"")), "{title}: {queries:?}");
        *titles.entry(title).or_insert(0) += 1;
    }
    assert!(titles["Requests"] <= 4, "{titles:?}");
}

#[test]
fn whatever_the_code_declares_is_in_the_dashboard() {
    let all: Vec<String> = panels().iter().flat_map(queries).collect();
    let texts = dashboard().to_string();
    // Queries name it with its dots escaped, and tables with its description.
    let asked = |name: &str| {
        let escaped = name.replace('.', "\\\\.");
        let bounds = |at: usize, end: usize, query: &str| {
            let before = query[..at].chars().next_back();
            let after = query[end..].chars().next();
            matches!(before, Some('"' | '|')) && matches!(after, Some('"' | '|'))
        };
        all.iter().any(|query| query.match_indices(&escaped).any(|(at, _)| bounds(at, at + escaped.len(), query)))
    };
    let named = Op::ALL.iter().map(|op| (op.as_str(), op.doc()));
    let named = named.chain(BoundName::ALL.iter().map(|bound| (bound.as_str(), bound.doc())));
    for (name, about) in named {
        assert!(asked(name), "no panel asks about {name}");
        let text = Value::from(format!("{name}: {about}")).to_string();
        assert!(texts.contains(&text), "no table describes {name}");
    }
    let described = CacheName::ALL.iter().map(|cache| (cache.as_str(), cache.doc()));
    let described = described.chain(PoolName::ALL.iter().map(|pool| (pool.as_str(), pool.doc())));
    let checks: Vec<_> = check_list().collect();
    for (name, about) in described.chain(checks.iter().map(|check| (check.key, check.about))) {
        let text = Value::from(format!("{name}: {about}")).to_string();
        assert!(texts.contains(&text), "no table describes {name}");
    }
}
