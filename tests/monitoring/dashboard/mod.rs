//! The dashboard for Grafana: its rows, with the operations, bounds, caches, pools and checks that the code declares.

mod applications;
mod figures;
mod panel;
mod registry;
mod today;
mod traffic;

use panel::Panel;
use serde_json::{Value, json};

/// The version of the form of dashboards: that of Grafana 12 and 13.
const SCHEMA: u64 = 42;
/// The width of a dashboard.
const WIDTH: u64 = 24;

/// Panels with a heading.
struct Row {
    title: &'static str,
    /// Whether it is closed until somebody opens it. Closed rows ask nothing.
    closed: bool,
    panels: Vec<Panel>,
}

fn rows() -> Vec<Row> {
    let open = |title, panels| Row { title, closed: false, panels };
    let closed = |title, panels| Row { title, closed: true, panels };
    vec![
        open("Now", today::now()),
        open("Findings", today::findings()),
        open("Requests", traffic::requests()),
        closed("Repositories", traffic::repositories()),
        closed("Upstreams", traffic::upstreams()),
        closed("Operations", registry::operations()),
        closed("Bounds", registry::bounds()),
        closed("Caches", registry::caches()),
        closed("Pools", registry::pools()),
        closed("Machine", figures::machine()),
        closed("Journal and disk", figures::journal()),
        closed("What observing costs", figures::telemetry()),
        closed("Applications", applications::applications()),
    ]
}

/// The dashboard.
pub(super) fn dashboard() -> Value {
    let (mut panels, mut id, mut y) = (Vec::new(), 0, 0);
    let mut next = || {
        id += 1;
        id
    };
    for row in rows() {
        let heading = next();
        let mut inside = Vec::new();
        let (mut x, mut line) = (0, 0);
        let top = y;
        y += 1;
        for panel in &row.panels {
            let [width, height] = panel.size();
            if x + width > WIDTH {
                (x, y, line) = (0, y + line, 0);
            }
            inside.push(panel.json(next(), [x, y]));
            (x, line) = (x + width, line.max(height));
        }
        y += line;
        let mut heading = json!({
            "collapsed": row.closed, "gridPos": { "h": 1, "w": WIDTH, "x": 0, "y": top }, "id": heading, "panels": [], "title": row.title,
            "type": "row",
        });
        if row.closed {
            // The panels of a closed row take no place.
            heading["panels"] = Value::Array(inside);
            panels.push(heading);
            y = top + 1;
        } else {
            panels.push(heading);
            panels.extend(inside);
        }
    }
    json!({
        "annotations": { "list": [] }, "description": "Made from the source of Daylight. docs/monitoring.md says how to use it.", "editable": true,
        "graphTooltip": 1, "links": [], "panels": panels, "refresh": "30s", "schemaVersion": SCHEMA, "tags": ["daylight"],
        "templating": { "list": variables() }, "time": { "from": "now-3h", "to": "now" }, "timezone": "browser",
        "title": "Daylight", "uid": "daylight",
    })
}

/// The dashboard as text, one line for each panel.
pub(super) fn text() -> String {
    let dashboard = dashboard();
    let lines = dashboard.as_object().into_iter().flatten().map(|(key, value)| {
        let value = match value.as_array() {
            Some(all) if key == "panels" => {
                let all: Vec<String> = all.iter().map(|panel| format!("    {panel}")).collect();
                format!("[\n{}\n  ]", all.join(",\n"))
            }
            _ => value.to_string(),
        };
        format!("  \"{key}\": {value}")
    });
    format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n"))
}

/// What the reader chooses.
fn variables() -> Value {
    let labels = |name: &str, label: &str, query: &str| {
        json!({
            "current": { "text": ["All"], "value": ["$__all"] }, "datasource": { "type": "prometheus", "uid": "${datasource}" },
            "includeAll": true, "allValue": ".*", "label": label, "multi": true, "name": name, "query": query, "refresh": 2, "sort": 1,
            "type": "query",
        })
    };
    let option = |value: &str, selected: bool| json!({ "selected": selected, "text": value, "value": value });
    let choice = |name: &str, label: &str, all: [&str; 3], first: usize| {
        let options: Vec<Value> = all.iter().enumerate().map(|(at, value)| option(value, at == first)).collect();
        json!({
            "current": option(all[first], true), "includeAll": false, "label": label, "multi": false, "name": name, "options": options,
            "query": all.join(","), "type": "custom",
        })
    };
    json!([
        { "includeAll": false, "label": "Data source", "multi": false, "name": "datasource", "query": "prometheus", "refresh": 1, "type": "datasource" },
        labels("instance", "Server", "label_values(daylight_build_info, instance)"),
        labels("repository", "Repository", "label_values(daylight_repository_info{instance=~\"$instance\"}, repository)"),
        choice("quantile", "Quantile", ["0.5", "0.95", "0.99"], 1),
        { "current": option("https", true), "includeAll": false, "label": "Scheme of links", "multi": false, "name": "scheme",
          "options": [option("https", true), option("http", false)], "query": "https,http", "type": "custom" },
    ])
}
