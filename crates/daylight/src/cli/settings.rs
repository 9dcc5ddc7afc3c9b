//! `daylight settings`: prints the settings for Maven of a repository, or adds them to a settings file.

mod user_file;

use super::context::Context;
use super::failure::{Failure, plain};
use super::repository_client::RepositoryClient;
use anyhow::Context as _;
use format::maven::settings::{Added, Merged, SETTINGS_LONGEST, Unmerged, merge};
use serde_json::json;
use std::path::PathBuf;
use user_file::UserFile;

/// Print the settings of Maven for a repository, or add them to a settings file
///
/// Without --merge it prints the file that the server has for the repository, for `mvn -s FILE`. With --merge it adds these settings to
/// ~/.m2/settings.xml. It shows the lines that it would add and asks. Everything else in the file stays as it is, byte for byte, and a copy
/// of the former file stays beside it. A setting that contradicts those of the repository, such as another mirror of everything, is
/// reported, and then nothing is changed.
#[derive(Debug, clap::Args)]
pub(super) struct Settings {
    /// Name of the Maven repository; `maven` in a new data folder
    repo: String,
    /// Add the settings to the settings file of this user
    #[arg(long)]
    merge: bool,
    /// Another settings file to add them to [default: ~/.m2/settings.xml]
    #[arg(long, value_name = "FILE", requires = "merge")]
    file: Option<PathBuf>,
    /// Add them without asking
    #[arg(long, requires = "merge")]
    yes: bool,
}

impl Settings {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let offered = self.offered(context)?;
        if !self.merge {
            return match context.flags.json {
                true => Ok(writeln!(context.out, "{:#}", json!({ "settings": offered }))?),
                false => Ok(write!(context.out, "{offered}")?),
            };
        }
        let path = match (&self.file, context.environment.home()) {
            (Some(file), _) => file.clone(),
            (None, Some(home)) => home.join(".m2/settings.xml"),
            (None, None) => {
                let hint = "name the file with `--file FILE`";
                return Err(
                    Failure::usage("the variable HOME is not set, so there is no ~/.m2/settings.xml", hint).into()
                );
            }
        };
        let file = UserFile::read(path, SETTINGS_LONGEST)?;
        let Merged { bytes, added, notes } = match file.bytes() {
            Some(before) => merge(before, &offered).map_err(|why| unmerged(&file, &why, &self.repo))?,
            None => {
                let all = Added { after: 0, text: offered.clone() };
                Merged { bytes: offered.into_bytes(), added: vec![all], notes: vec![] }
            }
        };
        let (shown, lines) = (file.shown(), added.iter().map(shown_lines).collect::<String>());
        if !added.is_empty() {
            write!(context.err, "{shown}\n{lines}")?;
        }
        for note in &notes {
            writeln!(context.err, "{}", plain(note))?;
        }
        if added.is_empty() {
            return report(context, &shown, "", None, &format!("`{shown}` has these settings already"));
        }
        if !self.yes {
            confirm(&shown, context)?;
        }
        let copy = file.replace(&bytes)?;
        let kept = copy.as_ref().map_or_else(String::new, |copy| format!("; the former file is `{copy}`"));
        report(context, &shown, &lines, copy.as_deref(), &format!("changed `{shown}`{kept}"))
    }

    /// The settings that the server has for the repository.
    fn offered(&self, context: &Context<'_>) -> anyhow::Result<String> {
        let text = RepositoryClient::new(&self.repo, context)?.connect()?.text("settings.xml")?;
        text.ok_or_else(|| {
            let text = format!("`{}` is no Maven repository, so it has no settings for Maven", plain(&self.repo));
            let hint = "`daylight repo list` shows the formats; docs/gem-clients.md has the settings files of gem repositories";
            Failure::new(text, Some(hint.to_owned())).into()
        })
    }
}

fn unmerged(file: &UserFile, why: &Unmerged, repo: &str) -> anyhow::Error {
    let hint = match why {
        Unmerged::Conflicts(_) => format!(
            "change these entries, or leave the file as it is: `daylight settings {repo} > daylight-settings.xml`, and then `mvn -s daylight-settings.xml`"
        ),
        Unmerged::Offered(_) => "is this a Daylight server?".to_owned(),
        _ => "Maven cannot read the file either, or reads it otherwise: mend it first".to_owned(),
    };
    let text = format!("nothing was changed in `{}`:\n{why}", file.shown());
    Failure::new(text, Some(hint)).into()
}

/// Added lines as a difference shows them. They come from the server: no text of the user's is among them.
fn shown_lines(added: &Added) -> String {
    let shown = |line: &str| line.split('\t').map(plain).collect::<Vec<_>>().join("\t");
    let lines = added.text.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("+{}\n", shown(line)));
    format!("@@ after line {} @@\n{}", added.after, lines.collect::<String>())
}

fn confirm(shown: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    if !context.can_ask() {
        let text = format!("nothing was changed in `{shown}`, because no terminal is there to confirm it");
        return Err(Failure::usage(text, "`--yes` adds these lines without asking").into());
    }
    match context.ask("Type `yes` to add these lines: ").context("cannot read the answer")?.trim() {
        "yes" => Ok(()),
        _ => Err(Failure::new(format!("nothing was changed in `{shown}`"), None).into()),
    }
}

fn report(context: &mut Context<'_>, file: &str, lines: &str, copy: Option<&str>, text: &str) -> anyhow::Result<()> {
    if context.flags.json {
        let document = json!({ "file": file, "added": lines, "copy": copy });
        writeln!(context.out, "{document:#}")?;
    }
    Ok(writeln!(context.err, "{text}")?)
}
