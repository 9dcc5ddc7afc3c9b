//! `/api/v1/tokens`. A secret is only in the answer to the call that makes it.

use crate::access::{self, NewToken};
use crate::app::App;
use crate::error::Error;
use repository::{Author, RepositoryTable, Scope};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use store::{RepositoryId, TokenRecord};
use telemetry::{Event, Millis};

/// The body of a POST.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
#[schemars(rename = "NewToken")]
pub(super) struct TokenBody {
    name: String,
    #[serde(default)]
    owner: String,
    #[schemars(extend("items" = { "enum": scopes() }))]
    scopes: Vec<String>,
    #[serde(default)]
    repositories: Vec<String>,
    /// RFC 3339.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    expires: Option<String>,
    /// Whether it demands one-time passwords.
    #[serde(default)]
    otp: bool,
}

fn to_json(record: &TokenRecord, known: &RepositoryTable, now: Millis) -> Value {
    // By id, as another repository may have the name by now.
    let current_name = |(id, name): (&RepositoryId, &String)| {
        let there = known.by_name.values().find(|repository| repository.id == *id);
        there.map_or_else(|| format!("{name} (removed)"), |repository| repository.record.name.clone())
    };
    let repositories: Vec<_> = record.repository_ids.iter().zip(&record.repositories).map(current_name).collect();
    json!({
        "name": record.name,
        "owner": record.owner,
        "scopes": record.scopes,
        "repositories": repositories,
        "package": record.unit,
        "otp": record.otp.is_some(),
        "created": record.created.to_string(),
        "expires": record.expires.map(|at| at.to_string()),
        "expired": record.expires.is_some_and(|at| at <= now),
    })
}

pub(super) async fn list(app: &App, event: &mut Event) -> Result<Value, Error> {
    let (table, known) = (app.access.table(event).await?, app.repositories.table(event).await?);
    let all: Vec<Value> = table.tokens().iter().map(|token| to_json(&token.record, &known, app.clock.now())).collect();
    Ok(json!({ "tokens": all }))
}

pub(super) async fn add(app: &App, body: TokenBody, by: Author<'_>, event: &mut Event) -> Result<Value, Error> {
    let scopes = body.scopes.iter().map(|scope| scope.parse::<Scope>()).collect::<Result<Vec<_>, _>>();
    let expires = body.expires.as_deref().map(moment).transpose()?;
    let mut repositories = Vec::new();
    for name in body.repositories {
        repositories.push((app.repositories.find(&name, event).await?.0.id, name));
    }
    let scopes = scopes.map_err(Error::Input)?;
    let (name, owner, otp) = (body.name, body.owner, body.otp);
    access::name::check_free("name", &name)?;
    access::name::check_free("owner", &owner)?;
    let new = NewToken { name, owner, scopes, repositories, unit: None, expires, otp };
    let made = app.access.create(new, None, by, event).await?;
    let known = app.repositories.table(event).await?;
    let mut value = to_json(&made.record, &known, app.clock.now());
    value["secret"] = made.secret.expose().into();
    if let Some(uri) = made.otp {
        value["otp_uri"] = uri.expose().into();
    }
    Ok(value)
}

pub(super) async fn revoke(app: &App, name: &str, by: Author<'_>, event: &mut Event) -> Result<Value, Error> {
    app.access.revoke(name, by, event).await?;
    Ok(Value::Null)
}

/// The names of all scopes.
fn scopes() -> Vec<&'static str> {
    Scope::ALL.iter().map(|scope| scope.as_str()).collect()
}

fn moment(text: &str) -> Result<Millis, Error> {
    let at: jiff::Timestamp =
        text.parse().map_err(|_| Error::Input(format!("`{}` is not an RFC 3339 moment", Event::text(text))))?;
    Ok(Millis(at.as_millisecond()))
}
