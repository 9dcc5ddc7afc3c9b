//! `api/v1/api_key`: signing in, and adding scopes to a key.

use crate::access::{self, NewToken, Token};
use crate::app::App;
use crate::config::FORM_BYTES;
use crate::error::{Error, Result};
use crate::reply;
use client::Secret;
use format::gem::{self, Form};
use format::percent::Form as Fields;
use front::{Reply, Request};
use repository::{ChangeSource, Repository, Scope};
use serde_json::json;
use telemetry::Event;

/// Scopes of RubyGems for features that Daylight lacks.
const NOT_HERE: [&str; 3] = ["access_webhooks", "show_dashboard", "configure_trusted_publishers"];

/// `POST`: RubyGems since 3.2.
pub(super) async fn make(
    app: &App,
    repository: &Repository,
    form: Form,
    request: &mut Request,
    event: &mut Event,
) -> Result<Reply> {
    let maker = app.access.account(request, repository, true, event).await?;
    let fields = fields(request, event).await?;
    let fields = Fields(&fields);
    let unit = fields.value("rubygem_name").filter(|name| !name.is_empty());
    if let Some(name) = &unit {
        gem::name::check(name).map_err(|why| Error::Input(format!("`rubygem_name`: {why}")))?;
    }
    let new = NewToken {
        name: fields.value("name").unwrap_or_default(),
        owner: maker.owner().to_owned(),
        scopes: scopes(fields, &maker, repository)?,
        repositories: vec![(repository.id, repository.record.name.clone())],
        unit: unit.or_else(|| maker.record.unit.clone()),
        expires: fields
            .value("expires_at")
            .filter(|at| !at.is_empty())
            .map(|at| repository::moment::read(&at))
            .transpose()?,
        otp: said(fields, "mfa"),
    };
    let secret = app.access.derive(&maker, new, ChangeSource::Client(request.recorded_client), event).await?;
    Ok(key(&secret, form))
}

/// `GET`: RubyGems before 3.2 asks for the key of the account. It gets all scopes of the token that `gem` knows.
pub(super) async fn make_full(
    app: &App,
    repository: &Repository,
    form: Form,
    request: &mut Request,
    event: &mut Event,
) -> Result<Reply> {
    let maker = app.access.account(request, repository, true, event).await?;
    access::refuse_browsers(&request.headers)?;
    let all = Scope::ALL.iter().copied().filter(|scope| scope.is_of_keys() && maker.scoped(*scope));
    let new = NewToken {
        name: format!("{}-gem-{}", maker.record.name, event.id),
        owner: maker.owner().to_owned(),
        scopes: all.collect(),
        repositories: vec![(repository.id, repository.record.name.clone())],
        unit: maker.record.unit.clone(),
        ..NewToken::default()
    };
    let secret = app.access.derive(&maker, new, ChangeSource::Client(request.recorded_client), event).await?;
    Ok(key(&secret, form))
}

/// `PUT`: what `gem` sends after a refusal that begins "The API key doesn't have access".
pub(super) async fn widen(
    app: &App,
    repository: &Repository,
    request: &mut Request,
    event: &mut Event,
) -> Result<Reply> {
    let maker = app.access.account(request, repository, true, event).await?;
    let fields = fields(request, event).await?;
    let fields = Fields(&fields);
    let secret = Secret::new(fields.value("api_key").unwrap_or_default());
    let key = app.access.table(event).await?.of_secret(&secret, app.clock.now());
    let here = key.filter(|key| key.is_for(repository.id));
    let key = here.ok_or_else(|| Error::Input("`api_key` is not a key that works here".into()))?;
    app.access
        .widen(&key, &scopes(fields, &maker, repository)?, &maker, ChangeSource::Client(request.recorded_client), event)
        .await?;
    Ok(reply::text(format!("Scopes for the API key {} updated", key.record.name)))
}

/// The form in the body, or what stands in the query for who sends none.
async fn fields(request: &mut Request, event: &mut Event) -> Result<String> {
    let body = request.upload.collect(FORM_BYTES, event).await?;
    let form = std::str::from_utf8(&body).map_err(|_| Error::Input("the form is not UTF-8".into()))?;
    Ok(format!("{form}&{}", request.query().unwrap_or_default()))
}

fn said(fields: Fields<'_>, name: &str) -> bool {
    fields.value(name).is_some_and(|value| matches!(value.as_str(), "true" | "1" | "y" | "yes"))
}

/// The scopes that are asked for. Nobody gets one that they do not have themselves. To read what anyone may read takes
/// none, so none is given: a key would have it still when the repository is no longer open.
fn scopes(fields: Fields<'_>, maker: &Token, repository: &Repository) -> Result<Vec<Scope>> {
    if let Some(name) = NOT_HERE.into_iter().find(|name| said(fields, name)) {
        return Err(Error::Input(format!("there is no scope `{name}` here; ask for the others")));
    }
    let gem = ["index_rubygems", "push_rubygem", "yank_rubygem", "add_owner", "remove_owner", "update_owner"];
    let wanted = gem.into_iter().filter(|name| said(fields, name)).filter_map(repository::scope_of_key);
    let mut given = Vec::new();
    for scope in wanted {
        let open = scope == Scope::Read && !repository.record.private;
        if maker.allows(scope, Some(repository.id)) {
            given.push(scope);
        } else if !open {
            return Err(access::Error::Wider { token: maker.record.name.clone(), scope }.into());
        }
    }
    Ok(given)
}

fn key(secret: &Secret, form: Form) -> Reply {
    match form {
        Form::Text => reply::text(secret.expose().to_owned()),
        form => reply::data(&json!({ "rubygems_api_key": secret.expose(), "status": "ok" }), form),
    }
}
