//! Asks whether the policy of a group may hide versions of its hosted members.

use super::preview;
use crate::cli::api::Api;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use serde_json::{Map, Value};

/// Shows the figures of `--preview` and asks, if the change hides versions of hosted members and no flag confirms that. Without a terminal
/// the server refuses the change.
pub(super) fn decide(
    api: &Api,
    name: &str,
    body: &mut Map<String, Value>,
    context: &mut Context<'_>,
) -> anyhow::Result<()> {
    let may_hide = ["policy", "members"].iter().any(|setting| body.contains_key(*setting));
    if !may_hide || body.contains_key("include_hosted") || !context.can_ask() {
        return Ok(());
    }
    let answer = preview::ask(api, name, &Value::Object(body.clone()))?;
    if answer["hosted"].is_null() {
        return Ok(());
    }
    preview::show(api, answer, context)?;
    let question = "Builds that have locked a hidden version fail. Type `yes` to hide them all the same: ";
    if context.ask(question)?.trim() != "yes" {
        let hint = "set the policy on the remote members instead, so that it hides no release of your own";
        return Err(Failure::new("nothing was changed", Some(hint.to_owned())).into());
    }
    body.insert("include_hosted".to_owned(), true.into());
    Ok(())
}
