//! The documents of this program: the names and forms that people and programs rely on, without prose.

use super::Documents;
use crate::world::{World, program};
use clap::{Arg, ArgAction, Command};
use insight::Column;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use telemetry::{BoundName, CacheName, Class, Kind, Layer, MemberSaid, Op, Outcome, PageOutcome, PoolName, Reason};

/// The page of metrics. Another test holds it against the metrics of a server.
const METRICS: &str = include_str!("../../docs/metrics.md");
/// The page with the reasons of the readiness probe. A test of that module holds it.
const MONITORING: &str = include_str!("../../docs/monitoring.md");

/// Makes all documents.
pub(super) fn of_this_program() -> Documents {
    let all = [
        ("openapi.json", api()),
        ("settings.json", settings()),
        ("commands.json", commands(&daylight::cli::command_tree())),
        ("names.json", names()),
        ("forms.json", forms()),
    ];
    all.into_iter().map(|(name, document)| (name.to_owned(), document)).collect()
}

/// A document as text. Each member of its two uppermost levels has a line, so that a difference names what changed.
pub(super) fn text(document: &Value) -> String {
    let mut out = String::from("{\n");
    let top = document.as_object().unwrap();
    for (at, (name, value)) in top.iter().enumerate() {
        out += &format!("{}: ", json!(name));
        match value {
            Value::Object(members) if members.len() > 1 => {
                let lines: Vec<String> =
                    members.iter().map(|(name, value)| format!(" {}: {value}", json!(name))).collect();
                out += &format!("{{\n{}\n}}", lines.join(",\n"));
            }
            other => out += &other.to_string(),
        }
        out += if at + 1 < top.len() { ",\n" } else { "\n" };
    }
    out + "}\n"
}

/// The OpenAPI document without the address of the server and without descriptions.
fn api() -> Value {
    let world = World::start();
    let mut document = world.admin().get("/api/v1/openapi.json").expect(200).json();
    let schemas = document["components"]["schemas"].take();
    let mut bare = json!({ "paths": document["paths"].take(), "schemas": schemas, "security": document["security"] });
    without_prose(&mut bare);
    bare
}

/// Removes descriptions and summaries. A property of that name is an object and no text.
fn without_prose(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|name, value| !(["description", "summary"].contains(&name.as_str()) && value.is_string()));
            members.values_mut().for_each(without_prose);
        }
        Value::Array(all) => all.iter_mut().for_each(without_prose),
        _ => {}
    }
}

fn told(arguments: &[&str]) -> Value {
    let output = program(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The keys of the configuration file with their variables, forms and limits, the keys of its tables, and the other variables. The keys of
/// `[[repository]]` are the schema `NewRepository` of the API.
fn settings() -> Value {
    let shown = told(&["config", "show", "--json"]);
    let key = |key: &Value| {
        let form = json!({
            "variable": key["variable"], "expects": key["expects"], "limits": key["limits"], "formerly": key["formerly"],
        });
        (key["key"].as_str().unwrap().to_owned(), form)
    };
    let keys: Map<String, Value> = shown["keys"].as_array().unwrap().iter().map(key).collect();
    use daylight::config::{ALERT_KEYS, APP_KEYS, FINDING_KEYS, LANE_KEYS, OTHER_VARIABLES, PAGES_KEYS};
    let of_tables = [ALERT_KEYS, APP_KEYS, FINDING_KEYS, LANE_KEYS, PAGES_KEYS].concat();
    json!({
        "keys": keys,
        "keys of tables": of_tables,
        "variables": OTHER_VARIABLES,
    })
}

/// Every command with its flags and arguments: `daylight repo add`, `daylight repo add --member`, `daylight repo add <1>`.
pub(super) fn commands(tree: &Command) -> Value {
    let mut tree = tree.clone().disable_help_subcommand(true);
    tree.build();
    let mut all = BTreeMap::new();
    command(&tree, "daylight", &mut all);
    json!({ "commands": all })
}

fn command(of: &Command, name: &str, all: &mut BTreeMap<String, Value>) {
    let aliases: Vec<&str> = of.get_all_aliases().collect();
    all.insert(name.to_owned(), json!({ "aliases": aliases, "alone": !of.is_subcommand_required_set() }));
    for argument in of.get_arguments().filter(|argument| !argument.is_hide_set()) {
        let place = match (argument.get_long(), argument.get_index()) {
            (Some(long), _) => format!("--{long}"),
            (None, Some(index)) => format!("<{index}>"),
            (None, None) => format!("-{}", argument.get_short().unwrap()),
        };
        all.insert(format!("{name} {place}"), form(of, argument));
    }
    for below in of.get_subcommands() {
        command(below, &format!("{name} {}", below.get_name()), all);
    }
}

fn form(of: &Command, argument: &Arg) -> Value {
    let takes = argument.get_action().takes_values();
    let count = argument.get_num_args().filter(|_| takes).map(|range| {
        let most = if range.max_values() > u32::MAX as usize { None } else { Some(range.max_values()) };
        json!([range.min_values(), most])
    });
    let values: Vec<String> = argument.get_possible_values().iter().map(|value| value.get_name().to_owned()).collect();
    let defaults: Vec<String> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy().into_owned()).collect();
    let mut excludes: Vec<&str> =
        of.get_arg_conflicts_with(argument).iter().map(|other| other.get_id().as_str()).collect();
    excludes.sort_unstable();
    excludes.dedup();
    json!({
        "short": argument.get_short(),
        "aliases": argument.get_all_aliases().unwrap_or_default(),
        "takes": count,
        "values": if takes { values } else { Vec::new() },
        "default": if takes { defaults } else { Vec::new() },
        "required": argument.is_required_set(),
        "repeated": matches!(argument.get_action(), ArgAction::Append | ArgAction::Count),
        "separator": argument.get_value_delimiter(),
        "excludes": excludes,
    })
}

/// The names in metrics, events, logs and answers.
fn names() -> Value {
    fn list<T: Copy>(all: &[T], name: fn(T) -> &'static str) -> Vec<&'static str> {
        all.iter().map(|one| name(*one)).collect()
    }
    let ready = MONITORING.lines().filter(|line| line.contains("` | 200 |") || line.contains("` | 503 |"));
    let ready: Vec<&str> = ready.filter_map(|line| line.strip_prefix("| `")?.split('`').next()).collect();
    assert!(ready.len() > 5, "{ready:?}");
    json!({
        "metrics": metrics(),
        "bounds": list(BoundName::ALL, BoundName::as_str),
        "caches": list(CacheName::ALL, CacheName::as_str),
        "pools": list(PoolName::ALL, PoolName::as_str),
        "operations": list(Op::ALL, Op::as_str),
        "outcomes": list(Outcome::ALL, Outcome::as_str),
        "reasons": list(Reason::ALL, Reason::as_str),
        "layers": list(Layer::ALL, Layer::as_str),
        "classes": list(Class::ALL, Class::as_str),
        "kinds of events": list(Kind::ALL, Kind::as_str),
        "answers of members": list(MemberSaid::ALL, MemberSaid::as_str),
        "pages of applications": list(PageOutcome::ALL, PageOutcome::as_str),
        "columns of events": list(Column::ALL, Column::as_str),
        "reasons of readiness": ready,
        "findings": insight::check_list().map(|check| check.key).collect::<Vec<_>>(),
    })
}

/// Each metric with its type and its labels.
fn metrics() -> Value {
    let (_, table) = METRICS.split_once("| metric | type | labels | |\n").unwrap();
    let rows = table.lines().skip(1).take_while(|line| line.starts_with("| `"));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let labels: Vec<&str> =
            cells[2].split(", ").map(|label| label.trim_matches('`')).filter(|label| !label.is_empty()).collect();
        (cells[0].trim_matches('`').to_owned(), json!({ "type": cells[1], "labels": labels }))
    };
    let all: Map<String, Value> = rows.map(row).collect();
    assert!(all.len() > 100, "{}", all.len());
    all.into()
}

/// The forms of the data folder, and the features that do not depend on how the program was built.
fn forms() -> Value {
    let version = told(&["--version", "--json"]);
    let features = version["features"].as_array().unwrap().iter();
    let features: Vec<&Value> =
        features.filter(|name| !["scripts", "static"].contains(&name.as_str().unwrap())).collect();
    json!({ "on_disk_form": version["on_disk_form"], "features": features, "version": version["version"] })
}
