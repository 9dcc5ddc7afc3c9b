//! The schemas of bodies and their parts, from the types that are read and serialized. Those of events and of questions about them,
//! which are read and written without such types, are in `schemas.json`.

use crate::admin::cleanup::{CleanupRequest, PurgeRequest};
use crate::admin::clock::ClockRepair;
use crate::admin::exceptions::NewException;
use crate::admin::names::NamesRequest;
use crate::admin::removal::RestoreBody;
use crate::admin::tokens::TokenBody;
use crate::settings_patch::{RepositoryDefinition, SettingsPatch};
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

const OF_EVENTS: &str = include_str!("schemas.json");

/// The answers.
const ANSWERS: &[fn(&mut SchemaGenerator)] = &[
    add::<web::Browse>,
    add::<web::Dependents>,
    add::<web::Difference>,
    add::<web::Downloads>,
    add::<web::Package>,
    add::<web::Packages>,
    add::<web::Readme>,
    add::<web::Search>,
    add::<web::Version>,
];

/// The bodies of requests.
const BODIES: &[fn(&mut SchemaGenerator)] = &[
    add::<CleanupRequest>,
    add::<ClockRepair>,
    add::<NamesRequest>,
    add::<NewException>,
    add::<PurgeRequest>,
    add::<RepositoryDefinition>,
    add::<RestoreBody>,
    add::<SettingsPatch>,
    add::<TokenBody>,
];

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    generator.subschema_for::<T>();
}

/// All schemas by name.
pub(super) fn schemas() -> Map<String, Value> {
    let mut schemas: Map<String, Value> = serde_json::from_str(OF_EVENTS).unwrap_or_default();
    schemas.extend(of(ANSWERS, Contract::Serialize));
    schemas.extend(of(BODIES, Contract::Deserialize));
    schemas
}

fn of(types: &[fn(&mut SchemaGenerator)], contract: Contract) -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.contract = contract;
    });
    let mut generator = settings.with_transform(RecursiveTransform(plain)).into_generator();
    types.iter().for_each(|add| add(&mut generator));
    generator.take_definitions(true)
}

/// Makes one line of each description, says of a value or null that it is one of them, and leaves out that nothing is the default.
fn plain(schema: &mut Schema) {
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if schema.get("default").is_some_and(Value::is_null) {
        schema.remove("default");
    }
    if let Some(either) = schema.remove("anyOf") {
        schema.insert("oneOf".to_owned(), either);
    }
}
