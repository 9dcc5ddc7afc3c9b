//! The schemas of bodies and their parts, from the types that are read and serialized. Those of events and of questions about them,
//! which are read and written without such types, are in `schemas.json`.

use crate::admin::alerts::{AlertsTest, AlertsTested, Receivers};
use crate::admin::apps::{PurgeApp, PurgedApp};
use crate::admin::cleanup::{Cleanup, CleanupRequest, Purge, PurgeRequest};
use crate::admin::clock::{Clock, ClockRepair};
use crate::admin::cluster::Cluster;
use crate::admin::contents::{Contents, Removed, Restored};
use crate::admin::exceptions::NewException;
use crate::admin::names::{KnownNames, NamesRequest};
use crate::admin::not_found::{Forgotten, Missing};
use crate::admin::preview::Preview;
use crate::admin::removal::{self, RestoreBody};
use crate::admin::repositories::{ChangedRepository, List};
use crate::admin::requests::OpenRequests;
use crate::admin::tokens::{MadeToken, TokenBody, Tokens};
use crate::admin::upstreams::Upstreams;
use crate::findings::mutes::NewMute;
use crate::reply::Problem;
use crate::settings_patch::{RepositoryDefinition, SettingsPatch};
use repository::{Collisions, Exception, Format, IndexCheck, ListedChanges};
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value};

const OF_EVENTS: &str = include_str!("schemas.json");

/// The answers.
const ANSWERS: &[fn(&mut SchemaGenerator)] = &[
    add::<AlertsTested>,
    add::<ChangedRepository>,
    add::<Cleanup>,
    add::<Clock>,
    add::<Cluster>,
    add::<Collisions>,
    add::<Contents>,
    add::<Exception>,
    add::<Forgotten>,
    add::<IndexCheck>,
    add::<KnownNames>,
    add::<ListedChanges>,
    add::<List>,
    add::<MadeToken>,
    add::<Missing>,
    add::<OpenRequests>,
    add::<Preview>,
    add::<Problem<'_>>,
    add::<Purge>,
    add::<PurgedApp>,
    add::<removal::Removed>,
    add::<Receivers>,
    add::<Removed>,
    add::<Restored>,
    add::<Tokens>,
    add::<Upstreams>,
    add::<web::Apps>,
    add::<web::Browse>,
    add::<web::Dependents>,
    add::<web::Difference>,
    add::<web::Downloads>,
    add::<web::HidingRule>,
    add::<web::Package>,
    add::<web::Packages>,
    add::<web::Readme>,
    add::<web::RelatedFinding>,
    add::<web::Search>,
    add::<web::Version>,
];

/// The bodies of requests.
const BODIES: &[fn(&mut SchemaGenerator)] = &[
    add::<AlertsTest>,
    add::<CleanupRequest>,
    add::<ClockRepair>,
    add::<NamesRequest>,
    add::<NewException>,
    add::<NewMute>,
    add::<PurgeApp>,
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
    // A repository is shown with its settings, and without the decisions of a change.
    let mut settings = schemas["Settings"]["properties"].clone();
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|name, _| !["claim", "unclaim", "keep_cached", "include_hosted"].contains(&name.as_str()));
        for shown in ["Repository", "ChangedRepository"] {
            let Some(properties) = schemas[shown]["properties"].as_object_mut() else { continue };
            settings.iter().for_each(|(name, schema)| {
                properties.entry(name).or_insert_with(|| schema.clone());
            });
        }
    }
    // The formats without packages have no such answers.
    let formats: Vec<&str> =
        Format::ALL.iter().filter(|format| format.has_packages()).map(|format| format.as_str()).collect();
    for of_package in ["Package", "Packages", "PackageVersion"] {
        schemas[of_package]["properties"]["format"]["enum"] = formats.clone().into();
    }
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
