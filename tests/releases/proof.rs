//! The comparison finds each kind of removal and narrowing in changed copies of the documents, and nothing in copies with additions.

use super::api::narrowed as narrowed_api;
use super::schema::{Direction, Schemas};
use super::{COMPARED, Documents, narrowed, of_release, released};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Changes a document at a JSON pointer (RFC 6901).
struct Edit {
    document: &'static str,
    at: &'static str,
    to: To,
}

enum To {
    /// This value.
    Be(Value),
    /// Nothing.
    Gone,
    /// Without this member of a list.
    Without(&'static str),
    /// With this member of a list.
    With(Value),
}

const API: &str = "openapi.json";
const SETTINGS: &str = "settings.json";
const COMMANDS: &str = "commands.json";
const NAMES: &str = "names.json";
const FORMS: &str = "forms.json";

fn edit(document: &'static str, at: &'static str, to: To) -> Edit {
    Edit { document, at, to }
}

fn changed(documents: &Documents, edit: &Edit) -> Documents {
    let mut copy = documents.clone();
    let document = copy.get_mut(edit.document).unwrap();
    let (above, last) = edit.at.rsplit_once('/').unwrap();
    let last = last.replace("~1", "/").replace("~0", "~");
    let parent = document.pointer_mut(above).unwrap_or_else(|| panic!("{} has no {above}", edit.document));
    match &edit.to {
        To::Be(value) => match parent {
            Value::Array(all) => all[last.parse::<usize>().unwrap()] = value.clone(),
            parent => parent[last] = value.clone(),
        },
        To::Gone => match parent {
            Value::Array(all) => drop(all.remove(last.parse().unwrap())),
            parent => drop(parent.as_object_mut().unwrap().remove(&last).unwrap_or_else(|| panic!("no {}", edit.at))),
        },
        To::Without(name) => {
            let list = parent[&last].as_array_mut().unwrap_or_else(|| panic!("{} is no list", edit.at));
            let before = list.len();
            list.retain(|member| member != name);
            assert_eq!(list.len(), before - 1, "{}", edit.at);
        }
        To::With(value) => {
            let parent = parent.as_object_mut().unwrap();
            parent.entry(last).or_insert_with(|| json!([])).as_array_mut().unwrap().push(value.clone());
        }
    }
    copy
}

/// Each kind of removal and narrowing, and the text that tells it.
fn narrowings() -> Vec<(Edit, &'static str)> {
    vec![
        (edit(API, "/paths/~1api~1v1~1tokens", To::Gone), "GET /api/v1/tokens is gone"),
        (edit(API, "/paths/~1api~1v1~1tokens/post", To::Gone), "POST /api/v1/tokens is gone"),
        (
            edit(API, "/paths/~1api~1v1~1tokens/get/operationId", To::Be(json!("all"))),
            "GET /api/v1/tokens has another name than",
        ),
        (
            edit(API, "/paths/~1api~1v1~1search/get/security", To::Be(json!([]))),
            "GET /api/v1/search no longer answers with the access {}",
        ),
        (
            edit(API, "/paths/~1api~1v1~1ask/post/security", To::Be(json!([{"token": ["admin"]}]))),
            "no longer answers with the access",
        ),
        (edit(API, "/paths/~1api~1v1~1journal/get/parameters/0", To::Gone), "of GET /api/v1/journal is gone"),
        (
            edit(API, "/paths/~1api~1v1~1journal/get/parameters/0/required", To::Be(json!(true))),
            "of GET /api/v1/journal is required",
        ),
        (
            edit(
                API,
                "/paths/~1api~1v1~1tokens/get/parameters",
                To::With(json!({"name": "why", "in": "query", "required": true})),
            ),
            "the parameter `why` of GET /api/v1/tokens is required",
        ),
        (
            edit(API, "/paths/~1api~1v1~1tokens/post/requestBody/content", To::Be(json!({}))),
            "is no longer application/json",
        ),
        (
            edit(API, "/paths/~1api~1v1~1tokens/get/requestBody", To::Be(json!({"required": true}))),
            "the body of GET /api/v1/tokens is required",
        ),
        (edit(API, "/paths/~1api~1v1~1tokens/post/responses/201", To::Gone), "has another status than 201"),
        (
            edit(API, "/paths/~1api~1v1~1profile/get/responses/200/content/image~1svg+xml", To::Gone),
            "is no longer image/svg+xml",
        ),
        (edit(API, "/schemas/NewToken/properties/scopes", To::Gone), "`scopes` of `NewToken` is gone"),
        (
            edit(API, "/schemas/NewToken/properties/owner/type", To::Be(json!("integer"))),
            "`owner` of `NewToken` no longer takes",
        ),
        (edit(API, "/schemas/NewToken/properties/owner/pattern", To::Be(json!("^a"))), "has another `pattern`"),
        (edit(API, "/schemas/NewToken/properties/owner/maxLength", To::Be(json!(3))), "has a lower `maxLength`"),
        (edit(API, "/schemas/NewToken/properties/owner/minLength", To::Be(json!(3))), "has a higher `minLength`"),
        (
            edit(API, "/schemas/NewToken/properties/owner/default", To::Be(json!("x"))),
            "`owner` of `NewToken` has another default",
        ),
        (edit(API, "/schemas/NewToken/required", To::With(json!("otp"))), "`otp` of `NewToken` is required"),
        (edit(API, "/schemas/NewRepository/properties/format/enum", To::Without("maven")), "no longer takes \"maven\""),
        (edit(API, "/schemas/Token/properties/name", To::Gone), "`name` of `Token` is gone"),
        (edit(API, "/schemas/Token/required", To::Without("name")), "`name` of `Token` may be missing"),
        (
            edit(API, "/schemas/Token/properties/name/type", To::Be(json!(["string", "null"]))),
            "`name` of `Token` may be null",
        ),
        (
            edit(API, "/schemas/Token/properties/name/type", To::Be(json!("integer"))),
            "`name` of `Token` may be integer",
        ),
        (edit(API, "/schemas/Finding/properties/state/enum", To::Without("open")), "is no longer \"open\""),
        (edit(API, "/schemas/Finding/properties/since/format", To::Gone), "no longer has the form"),
        (edit(API, "/schemas/Tokens/properties/tokens/items", To::Be(json!({"type": "string"}))), "may be string"),
        (edit(SETTINGS, "/keys/server.cores", To::Gone), "the setting `server.cores` is gone"),
        (
            edit(SETTINGS, "/keys/server.cores/variable", To::Be(json!("CORES"))),
            "the setting `server.cores` has another variable",
        ),
        (
            edit(SETTINGS, "/keys/server.cores/limits", To::Be(json!([2, 1024]))),
            "`server.cores` no longer takes values below 2",
        ),
        (
            edit(SETTINGS, "/keys/server.cores/limits", To::Be(json!([1, 8]))),
            "`server.cores` no longer takes values above 8",
        ),
        (edit(SETTINGS, "/keys/server.cores/expects", To::Be(json!("a path"))), "`server.cores` takes another form"),
        (
            edit(SETTINGS, "/keys/telemetry.log_level/expects", To::Be(json!("`error` or `info`"))),
            "`telemetry.log_level` no longer takes `warn`",
        ),
        (edit(SETTINGS, "/keys/telemetry.json_lines_files/formerly", To::Be(Value::Null)), "the former name"),
        (edit(SETTINGS, "/keys of tables", To::Without("app.slots")), "the key of tables `app.slots` is gone"),
        (edit(SETTINGS, "/variables", To::Without("DAYLIGHT_TOKEN")), "the variable `DAYLIGHT_TOKEN` is gone"),
        (edit(COMMANDS, "/commands/daylight purge", To::Gone), "`daylight purge` is gone"),
        (edit(COMMANDS, "/commands/daylight repo add --private", To::Gone), "`daylight repo add --private` is gone"),
        (
            edit(COMMANDS, "/commands/daylight repo add --private/required", To::Be(json!(true))),
            "`daylight repo add --private` is required",
        ),
        (
            edit(COMMANDS, "/commands/daylight repo add --private/takes", To::Be(json!([1, 1]))),
            "takes another number of values",
        ),
        (
            edit(COMMANDS, "/commands/daylight repo add --private/excludes", To::With(json!("claim"))),
            "cannot be used with `claim`",
        ),
        (
            edit(COMMANDS, "/commands/daylight repo add --member/takes", To::Be(Value::Null)),
            "takes another number of values",
        ),
        (
            edit(COMMANDS, "/commands/daylight repo add --member/repeated", To::Be(json!(false))),
            "can no longer be repeated",
        ),
        (
            edit(COMMANDS, "/commands/daylight repo add --member/values", To::With(json!("x"))),
            "takes certain values only",
        ),
        (edit(COMMANDS, "/commands/daylight repo add --read/values", To::Without("token")), "no longer takes `token`"),
        (edit(COMMANDS, "/commands/daylight repo add --format/default", To::Be(json!(["raw"]))), "has another default"),
        (edit(COMMANDS, "/commands/daylight repo add <1>", To::Gone), "`daylight repo add <1>` is gone"),
        (edit(COMMANDS, "/commands/daylight --version/short", To::Be(Value::Null)), "no longer the short form `-V`"),
        (
            edit(COMMANDS, "/commands/daylight repo add --why", To::Be(json!({"required": true}))),
            "`daylight repo add --why` is required",
        ),
        (
            edit(COMMANDS, "/commands/daylight findings/alone", To::Be(json!(false))),
            "`daylight findings` needs a command below it",
        ),
        (edit(NAMES, "/metrics/daylight_ready", To::Gone), "the metric `daylight_ready` is gone"),
        (
            edit(NAMES, "/metrics/daylight_ready/type", To::Be(json!("counter"))),
            "the metric `daylight_ready` is no longer a gauge",
        ),
        (
            edit(NAMES, "/metrics/daylight_ready/labels", To::With(json!("x"))),
            "the metric `daylight_ready` has the further label `x`",
        ),
        (
            edit(NAMES, "/metrics/daylight_outcomes_total/labels", To::Without("outcome")),
            "of the metric `daylight_outcomes_total` the label `outcome` is gone",
        ),
        (edit(NAMES, "/columns of events", To::Without("outcome")), "of the columns of events `outcome` is gone"),
        (
            edit(NAMES, "/reasons of readiness/0", To::Gone),
            "of the reasons of readiness `serving stands still` is gone",
        ),
        (edit(FORMS, "/on_disk_form/database", To::Be(json!(1))), "of the database is no longer read"),
        (edit(FORMS, "/on_disk_form/database", To::Be(json!(9))), "so the release before cannot open the folder"),
        (edit(FORMS, "/on_disk_form/layout", To::Gone), "of the layout is no longer read"),
        (edit(FORMS, "/features", To::Without("maven")), "the feature `maven` is gone"),
    ]
}

/// Additions, which clients and administrators do not notice.
fn additions() -> Vec<Edit> {
    let property = json!({ "type": "string" });
    vec![
        edit(API, "/paths/~1api~1v1~1more", To::Be(json!({"get": {"operationId": "more", "responses": {}}}))),
        edit(
            API,
            "/paths/~1api~1v1~1tokens/get/parameters",
            To::With(json!({"name": "more", "in": "query", "schema": property})),
        ),
        edit(API, "/paths/~1api~1v1~1tokens/get/security", To::Be(json!([{}]))),
        edit(API, "/schemas/NewToken/properties/more", To::Be(property.clone())),
        edit(API, "/schemas/Token/properties/more", To::Be(property)),
        edit(API, "/schemas/Token/required", To::With(json!("more"))),
        edit(API, "/schemas/Finding/properties/state/enum", To::With(json!("asleep"))),
        edit(API, "/schemas/NewToken/properties/owner/type", To::Be(json!(["string", "integer", "null"]))),
        edit(SETTINGS, "/keys/server.cores/limits", To::Be(json!([0, 4096]))),
        edit(SETTINGS, "/keys/server.cores/limits", To::Be(Value::Null)),
        edit(SETTINGS, "/keys/server.more", To::Be(json!({"variable": "M", "expects": "a path"}))),
        edit(
            SETTINGS,
            "/keys/telemetry.log_level/expects",
            To::Be(json!("`trace`, `error`, `warn`, `info` or `debug`")),
        ),
        edit(COMMANDS, "/commands/daylight repo add --more", To::Be(json!({"required": false}))),
        edit(COMMANDS, "/commands/daylight more", To::Be(json!({"aliases": [], "alone": true}))),
        edit(COMMANDS, "/commands/daylight more <1>", To::Be(json!({"required": true}))),
        edit(COMMANDS, "/commands/daylight repo add --read/values", To::With(json!("more"))),
        edit(NAMES, "/metrics/daylight_more", To::Be(json!({"type": "gauge", "labels": []}))),
        edit(NAMES, "/outcomes", To::With(json!("more"))),
        edit(FORMS, "/on_disk_form/more", To::Be(json!(1))),
        edit(FORMS, "/features", To::With(json!("more"))),
    ]
}

fn real() -> Documents {
    of_release(released().last().unwrap())
}

#[test]
fn each_kind_of_narrowing_is_found_in_a_changed_copy_and_named() {
    let real = real();
    assert_eq!(narrowed(&real, &real), [] as [&str; 0]);
    for (edit, told) in narrowings() {
        let found = narrowed(&real, &changed(&real, &edit));
        assert!(found.iter().any(|text| text.contains(told)), "{} {}: {told}: {found:?}", edit.document, edit.at);
    }
}

#[test]
fn an_addition_is_no_narrowing() {
    let real = real();
    for edit in additions() {
        let copy = changed(&real, &edit);
        assert_ne!(copy, real, "{}", edit.at);
        assert_eq!(narrowed(&real, &copy), [] as [&str; 0], "{} {}", edit.document, edit.at);
    }
    // A renamed setting or flag whose old name is accepted is not gone.
    let mut renamed = real.clone();
    let keys = renamed.get_mut(SETTINGS).unwrap()["keys"].as_object_mut().unwrap();
    let mut key = keys.remove("server.cores").unwrap();
    key["formerly"] = "server.cores".into();
    keys.insert("server.threads".to_owned(), key);
    let all = renamed.get_mut(COMMANDS).unwrap()["commands"].as_object_mut().unwrap();
    let mut flag = all.remove("daylight repo add --private").unwrap();
    flag["aliases"] = json!(["private"]);
    all.insert("daylight repo add --secret".to_owned(), flag);
    assert_eq!(narrowed(&real, &renamed), [] as [&str; 0]);
}

/// The names in an object, or the places in a list.
fn keys(document: &Value, at: &str) -> Vec<String> {
    match document.pointer(at).unwrap() {
        Value::Array(all) => (0..all.len()).map(|at| at.to_string()).collect(),
        members => members.as_object().unwrap().keys().cloned().collect(),
    }
}

/// Looks at copies of a document, each without one member of an object or list.
fn without_each(document: &Value, list: &str, mut look: impl FnMut(&str, &Value)) {
    let mut copy = document.clone();
    for name in keys(document, list) {
        let whole = copy.pointer(list).unwrap().clone();
        match copy.pointer_mut(list).unwrap() {
            Value::Array(all) => drop(all.remove(name.parse().unwrap())),
            parent => drop(parent.as_object_mut().unwrap().remove(&name).unwrap()),
        }
        look(&name, &copy);
        *copy.pointer_mut(list).unwrap() = whole;
    }
}

/// Fails for each member of a list that is not missed.
fn each_is_missed(of: &'static str, document: &Value, list: &str) {
    let (_, compare) = COMPARED.iter().find(|(name, _)| *name == of).unwrap();
    without_each(document, list, |name, copy| assert!(!compare(document, copy).is_empty(), "{of} {list}/{name}"));
}

#[test]
fn every_call_setting_and_name_is_missed() {
    let real = real();
    for (document, list) in [
        (API, "/paths"),
        (SETTINGS, "/keys"),
        (SETTINGS, "/keys of tables"),
        (SETTINGS, "/variables"),
        (FORMS, "/on_disk_form"),
    ] {
        each_is_missed(document, &real[document], list);
    }
    for list in keys(&real[NAMES], "") {
        let alone = Map::from_iter([(list.clone(), real[NAMES][&list].clone())]).into();
        each_is_missed(NAMES, &alone, &format!("/{list}"));
    }
}

#[test]
fn every_command_and_flag_is_missed() {
    let real = real();
    let all = real[COMMANDS]["commands"].as_object().unwrap();
    let first: BTreeSet<&str> = all.keys().filter_map(|name| name.split(' ').nth(1)).collect();
    assert!(first.len() > 30, "{first:?}");
    // One command at a time: that is quick.
    for name in first {
        let ours = all.iter().filter(|(of, _)| *of == "daylight" || of.split(' ').nth(1) == Some(name));
        let ours: Map<String, Value> = ours.map(|(name, form)| (name.clone(), form.clone())).collect();
        each_is_missed(COMMANDS, &json!({ "commands": ours }), "/commands");
    }
}

#[test]
fn every_member_of_a_body_and_of_an_answer_is_missed() {
    let real = real();
    let (document, mut members) = (&real[API], 0);
    let mut other = document.clone();
    for schema in keys(document, "/schemas") {
        // Some call has this schema.
        let whole = std::mem::replace(&mut other["schemas"][&schema], json!({ "type": "boolean" }));
        assert!(!narrowed_api(document, &other).is_empty(), "{schema}");
        other["schemas"][&schema] = whole;
        let named = json!({ "$ref": format!("#/components/schemas/{schema}") });
        let names = document["schemas"][&schema]["properties"].as_object();
        for name in names.into_iter().flat_map(Map::keys) {
            let gone = other["schemas"][&schema]["properties"].as_object_mut().unwrap().remove(name).unwrap();
            for direction in [Direction::Taken, Direction::Given] {
                let mut schemas = Schemas::of(document, &other);
                schemas.compare(&named, &named, direction, "");
                assert!(!schemas.narrowed().is_empty(), "{schema}.{name}");
            }
            other["schemas"][&schema]["properties"][name] = gone;
            members += 1;
        }
    }
    assert!(members > 500, "{members}");
}
