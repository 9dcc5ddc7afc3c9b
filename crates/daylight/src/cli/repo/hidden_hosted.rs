//! The versions of hosted members that the policy of a group hides, from answers of the API.

use crate::cli::api::decode;
use crate::cli::context::Context;
use crate::cli::failure::plain;
use serde::Deserialize;
use serde_json::Value;

/// The hosted members and versions that a policy hides, from an answer of the API.
#[derive(Debug, Deserialize)]
pub(super) struct HiddenHosted {
    members: Vec<String>,
    text: String,
}

impl HiddenHosted {
    /// The members and versions, in a line.
    pub(super) fn summary(&self) -> String {
        let members = self.members.iter().map(|member| format!("`{}`", plain(member))).collect::<Vec<_>>();
        format!("it applies to {}: {}", members.join(" and "), plain(&self.text))
    }
}

/// Tells what a change has hidden.
pub(super) fn tell(answer: &Value, context: &mut Context<'_>) -> anyhow::Result<()> {
    if let Some(hosted) = answer.get("hosted") {
        writeln!(context.err, "{}", decode::<HiddenHosted>(hosted.clone())?.summary())?;
    }
    Ok(())
}
