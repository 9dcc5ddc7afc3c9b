//! `/api/v1/tokens`. A secret is only in the answer to the call that makes it.

use crate::access::{self, NewToken};
use crate::app::App;
use crate::error::{Error, Result};
use repository::moment::Moment;
use repository::{Author, RepositoryTable, Scope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
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

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tokens {
    tokens: Vec<Token>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Token {
    name: String,
    owner: String,
    #[schemars(extend("items" = { "enum": scopes() }))]
    scopes: Vec<String>,
    /// The repositories that it is for; none: all.
    repositories: Vec<String>,
    /// The one package that it may change.
    package: Option<String>,
    /// Whether it demands one-time passwords.
    otp: bool,
    created: Moment,
    expires: Option<Moment>,
    expired: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MadeToken {
    #[serde(flatten)]
    token: Token,
    /// Known to nobody afterwards.
    secret: String,
    /// The key of its one-time passwords, for the app that shows them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    otp_uri: Option<String>,
}

impl Token {
    fn new(record: &TokenRecord, known: &RepositoryTable, now: Millis) -> Self {
        // By id, as another repository may have the name by now.
        let current_name = |(id, name): (&RepositoryId, &String)| {
            let there = known.by_name.values().find(|repository| repository.id == *id);
            there.map_or_else(|| format!("{name} (removed)"), |repository| repository.record.name.clone())
        };
        Self {
            name: record.name.clone(),
            owner: record.owner.clone(),
            scopes: record.scopes.clone(),
            repositories: record.repository_ids.iter().zip(&record.repositories).map(current_name).collect(),
            package: record.unit.clone(),
            otp: record.otp.is_some(),
            created: Moment(record.created),
            expires: record.expires.map(Moment),
            expired: record.expires.is_some_and(|at| at <= now),
        }
    }
}

pub(super) async fn list(app: &App, event: &mut Event) -> Result<Value> {
    let (table, known) = (app.access.table(event).await?, app.repositories.table(event).await?);
    let tokens = table.tokens();
    let tokens = tokens.iter().map(|token| Token::new(&token.record, &known, app.clock.now()));
    Ok(json!(Tokens { tokens: tokens.collect() }))
}

pub(super) async fn add(app: &App, body: TokenBody, by: Author<'_>, event: &mut Event) -> Result<Value> {
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
    let token = Token::new(&made.record, &known, app.clock.now());
    let (secret, otp_uri) = (made.secret.expose().to_owned(), made.otp.map(|uri| uri.expose().to_owned()));
    Ok(json!(MadeToken { token, secret, otp_uri }))
}

pub(super) async fn revoke(app: &App, name: &str, by: Author<'_>, event: &mut Event) -> Result<Value> {
    app.access.revoke(name, by, event).await?;
    Ok(Value::Null)
}

/// The names of all scopes.
fn scopes() -> Vec<&'static str> {
    Scope::ALL.iter().map(|scope| scope.as_str()).collect()
}

fn moment(text: &str) -> Result<Millis> {
    let at: jiff::Timestamp =
        text.parse().map_err(|_| Error::Input(format!("`{}` is not an RFC 3339 moment", Event::text(text))))?;
    Ok(Millis(at.as_millisecond()))
}
