//! Accounts as clients of a gem repository see them: keys that are made by signing in, and whose they are.
//!
//! There are no accounts beside the tokens. Who signs in shows an owner's name and one of their tokens as user name and
//! password, and gets a key: a token that may no more than that one, in this repository alone.

mod keys;

use crate::app::App;
use crate::error::{Error, Result};
use crate::reply;
use front::{Reply, Request};
use repository::{Account, AccountVerb as Verb, Repository};
use serde_json::json;
use telemetry::{Event, Layer};

/// Answers one request about the caller's account.
pub(crate) async fn answer(
    app: &App,
    ask: Account,
    repository: &Repository,
    request: &mut Request,
    event: &mut Event,
) -> Result<Reply> {
    event.layer = Layer::Admin;
    event.subject.kind = "account";
    event.subject.repository = repository.record.name.as_str().into();
    match ask.verb {
        Verb::MakeKey => keys::make(app, repository, ask.form, request, event).await,
        Verb::MakeFullKey => keys::make_full(app, repository, ask.form, request, event).await,
        Verb::WidenKey => keys::widen(app, repository, request, event).await,
        Verb::Profile => {
            let token = app.access.account(request, repository, false, event).await?;
            let owner = token.owner();
            // What RubyGems asks here is whether to expect a prompt.
            let mfa = if token.record.otp.is_some() { "ui_and_api" } else { "disabled" };
            let email = owner.contains('@').then_some(owner);
            Ok(reply::data(&json!({ "id": owner, "handle": owner, "email": email, "mfa": mfa }), ask.form))
        }
        Verb::Device => Err(Error::NoDevice),
        Verb::Hooks => Err(repository::Error::Unsupported("there are no webhooks yet".into()).into()),
    }
}
