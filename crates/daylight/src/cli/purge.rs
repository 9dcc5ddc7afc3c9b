//! `daylight purge`: removes files and their bytes permanently.

use super::api::{Api, PlanFlags, REPOSITORIES, decode};
use super::context::Context;
use super::failure::{Failure, plain};
use super::frees;
use super::kept_names;
use format::percent::segment;
use serde::Deserialize;
use serde_json::{Value, json};

/// Delete a file, a package or a version and its bytes permanently
///
/// The bytes are deleted at once, also from views of earlier moments. A purge cannot be undone, and the same path or version
/// cannot be published again, not even with the same bytes. In a remote repository only the cached file is deleted.
#[derive(Debug, clap::Args)]
pub(super) struct Purge {
    /// Name of the repository
    #[arg(value_name = "REPO")]
    repository: String,
    /// A path, a gem `NAME[:VERSION]`, or an artifact `GROUP:ARTIFACT[:VERSION]`
    #[arg(value_name = "PATH|NAME[:VERSION]")]
    what: String,
    /// The reason, which is shown to anybody who publishes the same path or version again
    #[arg(long, value_name = "TEXT")]
    why: String,
    #[command(flatten)]
    flags: PlanFlags,
}

#[derive(Debug, Deserialize)]
struct Answer {
    files: u64,
    size_bytes: u64,
    also_in: Vec<String>,
}

impl Answer {
    fn summary(&self) -> String {
        format!("{} files of {} bytes", self.files, self.size_bytes)
    }
}

impl Purge {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::patient(context)?;
        if !self.flags.yes {
            self.confirm(self.call(&api, false)?, context)?;
        }
        let answer = self.call(&api, true)?;
        api.print_json(&answer, context)?;
        let frees = frees::sentence(&answer);
        let answered = answer.clone();
        let answer: Answer = decode(answer)?;
        let (what, name) = (plain(&self.what), plain(&self.repository));
        writeln!(context.err, "purged `{what}` from `{name}`: {}", answer.summary())?;
        also_in(&answer, context)?;
        if let Some(frees) = frees {
            writeln!(context.err, "{frees}")?;
        }
        Ok(kept_names::write(&answered, context.err)?)
    }

    fn call(&self, api: &Api, apply: bool) -> anyhow::Result<Value> {
        let body = json!({ "what": self.what, "why": self.why, "apply": apply });
        api.post(&format!("{REPOSITORIES}/{}/purge", segment(&self.repository)), &body)
    }

    /// Asks the user to type the name again. Without a terminal nothing is purged.
    fn confirm(&self, planned: Value, context: &mut Context<'_>) -> anyhow::Result<()> {
        let frees = frees::sentence(&planned).map(|frees| format!("; {frees}")).unwrap_or_default();
        let planned: Answer = decode(planned)?;
        let (what, summary) = (plain(&self.what), planned.summary());
        if !context.can_ask() {
            let text = format!(
                "`{what}` has {summary}{frees}; nothing was purged, because no terminal is there to confirm it"
            );
            return Err(Failure::usage(text, "`--yes` purges it without asking").into());
        }
        also_in(&planned, context)?;
        let question = format!("`{what}` has {summary}{frees}. To purge it permanently, type its name again: ");
        match context.ask(&question)? == self.what {
            true => Ok(()),
            false => Err(Failure::new("the names differ: nothing was purged", None).into()),
        }
    }
}

fn also_in(answer: &Answer, context: &mut Context<'_>) -> std::io::Result<()> {
    if answer.also_in.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = answer.also_in.iter().map(|name| format!("`{}`", plain(name))).collect();
    writeln!(context.err, "the same bytes are also in {}, which keep them", names.join(", "))
}
