//! `/api/v1/repositories/NAME/exceptions`: versions that are visible in spite of a cooldown, and who allowed them.

use crate::app::App;
use crate::error::{Error, Result};
use repository::Author;
use repository::BadSetting;
use repository::moment;
use repository::{Exception, ExceptionRecord, PolicyRecord};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use telemetry::Event;

/// The body of a POST.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "an object")]
pub(super) struct NewException {
    package: String,
    why: String,
    /// ISO 8601.
    #[serde(default)]
    #[schemars(extend("format" = "date-time"))]
    until: Option<String>,
}

/// A policy as JSON.
pub(super) fn policy_json(policy: &PolicyRecord) -> Value {
    let mut value = json!(policy);
    if !policy.exceptions.is_empty() {
        let exceptions: Vec<Exception> = policy.exceptions.iter().map(Exception::from).collect();
        value["exceptions"] = json!(exceptions);
    }
    value
}

/// Adds an exception. It replaces one for the same package; exceptions that have ended are removed.
pub(super) async fn add(app: &App, name: &str, body: NewException, by: Author<'_>, event: &mut Event) -> Result<Value> {
    let (now, NewException { package, why, until }) = (app.store.now(), body);
    let until = until.as_deref().map(moment::read).transpose()?;
    if until.is_some_and(|until| until <= app.clock.now()) {
        return Err(Error::Input("`until` has passed".to_owned()));
    }
    let exception = ExceptionRecord { package, why, who: by.by.to_owned(), made: now, since: None, until };
    let value = json!(Exception::from(&exception));
    let add = |record: &mut repository::RepositoryRecord| {
        let exceptions = &mut record.policy.get_or_insert_default().exceptions;
        // Answers as of earlier moments do not change: the new exception begins with the one that it replaces.
        let holds = |one: &&ExceptionRecord| one.until.is_none_or(|until| until > now);
        let former = exceptions.iter().filter(holds).find(|one| one.package == exception.package);
        let since = former.map(|one| one.since.unwrap_or(one.made));
        exceptions.retain(|one| one.package != exception.package && one.until.is_none_or(|until| until > now));
        exceptions.push(ExceptionRecord { since, ..exception.clone() });
        Ok(())
    };
    app.repositories.set(name, add, by, event).await?;
    Ok(value)
}

/// Removes the exception for `package`.
pub(super) async fn end(app: &App, name: &str, package: &str, by: Author<'_>, event: &mut Event) -> Result<Value> {
    let end = |record: &mut repository::RepositoryRecord| {
        let exceptions = &mut record.policy.get_or_insert_default().exceptions;
        let before = exceptions.len();
        exceptions.retain(|one| one.package != package);
        if exceptions.len() < before {
            return Ok(());
        }
        let text = format!("nothing lets `{}` through", Event::text(package));
        Err(BadSetting::new(text, "`daylight policy list` lists the exceptions").into())
    };
    app.repositories.set(name, end, by, event).await?;
    Ok(Value::Null)
}
