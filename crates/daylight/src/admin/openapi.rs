//! `/api/v1/openapi.json`: the API for tools (OpenAPI 3.1), from the same table as the reader of URLs.

mod schemas;

use crate::lookup::pagination::LIMIT_MAX;
use crate::route::admin::{AdminCall, CALLS, ID, NAME, PACKAGE, PATH, VERSION};
use crate::route::{AdminVerb, OwnVerb, ServerVerb};
use insight::FindingState;
use repository::Scope;
use serde_json::{Map, Value, json};

/// The schema of a problem.
const PROBLEM: &str = "Problem";

/// The document for the server at `url`.
pub(super) fn document(url: &str) -> Value {
    let mut paths = Map::new();
    for call in CALLS {
        let path = paths.entry(format!("/api/v1/{}", call.path)).or_insert_with(|| json!({}));
        path[call.method.as_str().to_ascii_lowercase()] = operation(call);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Daylight",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The admin API. Every call needs a token with the scope `admin`, unless it says otherwise.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": url }],
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
            "schemas": schemas::schemas(),
        },
    })
}

fn operation(call: &AdminCall) -> Value {
    let mut done = json!({ "description": "It is done." });
    if !call.gives.is_empty() {
        done["content"] = content("application/json", call.gives);
    }
    if call.verb == AdminVerb::Own(OwnVerb::Tail) {
        done["content"] = json!({ "text/event-stream": { "schema": { "type": "string" } } });
    }
    if call.verb == AdminVerb::Own(OwnVerb::Profile) {
        done["content"]["image/svg+xml"] = json!({ "schema": { "type": "string" } });
    }
    let mut operation = json!({
        "operationId": call.id,
        "summary": call.doc,
        "responses": {
            call.status.as_str(): done,
            "default": { "description": "Why not.", "content": content("application/problem+json", PROBLEM) },
        },
    });
    let (description, security) = match call.verb {
        AdminVerb::Own(OwnVerb::Explain) => (
            "Needs no token if the repository is public, otherwise one with the scope `read` for it. Names of tokens, \
            hosts of upstreams and times need the scope `observe`."
                .to_owned(),
            json!([{}, { "token": [Scope::Read.as_str()] }]),
        ),
        AdminVerb::Own(OwnVerb::Names) => (
            "Needs a token with the scope `write` for the repository. Private members are named to callers who may read them."
                .to_owned(),
            json!([{ "token": [Scope::Write.as_str()] }]),
        ),
        AdminVerb::Own(OwnVerb::Search) => (
            "Needs no token. The answers, and their number, are those of the repositories that the caller may read.".to_owned(),
            json!([{}, { "token": [Scope::Read.as_str()] }]),
        ),
        AdminVerb::Repository(_) => (
            "Needs no token if the repository is public, otherwise one with the scope `read` for it. \
            `name` may have a moment: `NAME@2026-11-01`."
                .to_owned(),
            json!([{}, { "token": [Scope::Read.as_str()] }]),
        ),
        AdminVerb::Own(OwnVerb::Tail | OwnVerb::Ask | OwnVerb::Profile) => of_scope(Scope::Observe),
        AdminVerb::Server(verb) => of_scope(verb.scope()),
    };
    if !description.is_empty() {
        (operation["description"], operation["security"]) = (description.into(), security);
    }
    if !call.takes.is_empty() {
        operation["requestBody"] = json!({ "required": true, "content": content("application/json", call.takes) });
    }
    let in_path = call.path.split('/').filter_map(path_parameter);
    let parameters: Vec<Value> =
        in_path.chain(call.verb.query().iter().map(|name| query_parameter(call.verb, name))).collect();
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation
}

/// The access to a call that needs a scope for the whole server.
fn of_scope(scope: Scope) -> (String, Value) {
    match scope {
        Scope::Admin => (String::new(), Value::Null),
        _ => (format!("Needs a token with the scope `{scope}` or `admin`."), json!([{ "token": [scope.as_str()] }])),
    }
}

fn path_parameter(part: &str) -> Option<Value> {
    let (name, description) = match part {
        NAME => ("name", "Its name."),
        ID => ("id", "Its id, 16 hexadecimal digits."),
        PACKAGE => ("package", "The name of a gem, or `GROUP:ARTIFACT`."),
        VERSION => ("version", "The version; of a gem for a platform `VERSION-PLATFORM`."),
        PATH => ("path", "A path; its slashes stand as they are."),
        _ => return None,
    };
    let schema = json!({ "type": "string" });
    Some(json!({ "name": name, "in": "path", "required": true, "description": description, "schema": schema }))
}

fn query_parameter(verb: AdminVerb, name: &str) -> Value {
    let of_findings = verb == AdminVerb::Server(ServerVerb::Findings);
    let (description, schema) = match name {
        "state" => {
            let states: Vec<&str> = FindingState::ALL.iter().map(|state| state.as_str()).collect();
            let text = "States with commas between them. Without it `pending,open`; of an earlier time any.";
            (text, json!({ "type": "array", "items": { "type": "string", "enum": states } }))
        }
        "from" if of_findings => (
            "The findings that were pending or open at this moment or later: RFC 3339, a day, `-90m`.",
            json!({ "type": "string" }),
        ),
        "to" if of_findings => ("Those of before this moment. Without it now.", json!({ "type": "string" })),
        "limit" => ("How many rows are looked at.", json!({ "type": "integer", "minimum": 1, "maximum": LIMIT_MAX })),
        "repository" => ("The repository's name.", json!({ "type": "string" })),
        "as_of" => ("As of when: a day, a moment, `seq-N`, or `koji-EVENT`.", json!({ "type": "string" })),
        "path" => ("The path below it.", json!({ "type": "string" })),
        "q" => (
            "Words, all of which a name contains; or 40 or 64 hexadecimal digits.",
            json!({ "type": "string", "maxLength": repository::LONGEST_QUERY }),
        ),
        "by" => ("The name of the token that made the change.", json!({ "type": "string" })),
        "from" => ("The version that is compared.", json!({ "type": "string" })),
        "to" => ("The version with which it is compared.", json!({ "type": "string" })),
        "kind" => {
            let kinds = repository::CHANGE_KINDS;
            let without = kinds.iter().map(|kind| format!("-{kind}"));
            let kinds: Vec<String> = kinds.iter().map(|kind| (*kind).to_owned()).chain(without).collect();
            let items = json!({ "type": "string", "enum": kinds });
            let text =
                "What the change did: kinds with commas between them, or kinds that are left out, each after a `-`.";
            (text, json!({ "type": "array", "items": items }))
        }
        "since" => ("Changes of this moment and later ones.", json!({ "type": "string" })),
        "until" => ("Changes up to this moment.", json!({ "type": "string" })),
        "before" => {
            ("Changes before the one of this number: the `earlier` of the part before.", json!({ "type": "integer" }))
        }
        "confirm" => {
            ("The repository's name once more; with another, or none, nothing happens.", json!({ "type": "string" }))
        }
        "minutes" => (
            "The last minutes of this run that it is about.",
            json!({ "type": "integer", "minimum": 1, "maximum": 1440, "default": 1440 }),
        ),
        "seconds" => (
            "How long the profile takes. Another profile must not be under way.",
            json!({ "type": "integer", "minimum": 1, "maximum": 60, "default": 10 }),
        ),
        "where" => ("Which events; all, if it is empty.", json!({ "type": "string" })),
        "nodes" => (
            "`here`: only the node that is asked. Without it all nodes that share its database.",
            json!({ "type": "string", "enum": ["here"] }),
        ),
        "all" => ("Send each event, where there would be a sample of too many.", json!({ "type": "boolean" })),
        "removed" => ("List removed files instead.", json!({ "type": "boolean" })),
        _ => ("Start after this: the `next` of the previous page.", json!({ "type": "string" })),
    };
    let explode = schema["type"] != "array";
    json!({ "name": name, "in": "query", "description": description, "explode": explode, "schema": schema })
}

fn content(media: &str, schema: &str) -> Value {
    json!({ media: { "schema": { "$ref": format!("#/components/schemas/{schema}") } } })
}

#[cfg(test)]
mod tests;
