//! `daylight policy`: lets single versions through that the cooldown of a repository hides.

mod effect;
mod hidden_file;
mod locked;
mod refused;

use super::api::{Api, REPOSITORIES, decode};
use super::context::Context;
use super::{failure, table};
use crate::config::duration;
use format::percent::segment;
use refused::{Selection, Versions};
use serde::Deserialize;
use serde_json::Value;
use std::path::PathBuf;
use telemetry::Clock;

/// Let single versions through the cooldown of a repository
///
/// The policy itself is set with `daylight repo set`.
#[derive(Debug, clap::Args)]
pub(super) struct Policy {
    #[command(subcommand)]
    verb: PolicyVerb,
}

#[derive(Debug, clap::Subcommand)]
enum PolicyVerb {
    /// Let a version through although it is younger than the cooldown
    ///
    /// With --refused it lets all versions through that requests were refused in that time, after listing them: all that one build needs.
    /// With --lock it takes the versions of a lock of Bundler, which requests no file of a version that is hidden.
    Allow {
        /// The repository whose policy hides the version; the refused answer names it. With --refused also the repository that the build
        /// asks, and with --lock that one
        repository: String,
        /// The version: `org.example:lamp:1.2`, `rack:3.0.0`, or a path; `*` matches any text
        #[arg(required_unless_present_any = ["refused", "lock"], conflicts_with_all = ["refused", "lock"])]
        package: Option<String>,
        /// All versions that requests were refused within this time: 15m, 2h
        #[arg(long, value_name = "TIME", value_parser = since, conflicts_with = "lock")]
        refused: Option<String>,
        /// All versions of this Gemfile.lock that a cooldown hides
        #[arg(long, value_name = "FILE")]
        lock: Option<PathBuf>,
        /// Only requests with the token of this name
        #[arg(long, value_name = "TOKEN", requires = "refused")]
        by: Option<String>,
        /// With --refused or --lock: do not ask at a terminal
        #[arg(long, conflicts_with = "package")]
        yes: bool,
        /// The reason, which `daylight policy list` shows
        #[arg(long, value_name = "REASON")]
        why: String,
        /// Until when: after a duration such as 14d or 12h, or at a date such as 2026-11-01 [default: until it is withdrawn]
        #[arg(long, value_name = "TIME", value_parser = until)]
        until: Option<String>,
    },
    /// List the versions that are let through, with who allowed each and why
    List {
        /// Name of the repository
        repository: String,
    },
    /// Hide a version again that was let through
    Withdraw {
        /// Name of the repository
        repository: String,
        /// The version, written as in `daylight policy allow`
        package: String,
    },
}

#[derive(Debug, Deserialize)]
struct RepositoryPolicy {
    #[serde(default)]
    policy: PolicyExceptions,
}

#[derive(Debug, Default, Deserialize)]
struct PolicyExceptions {
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Debug, Deserialize)]
struct Exception {
    package: String,
    who: String,
    made: String,
    until: Option<String>,
    why: String,
}

impl Policy {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        match self.verb {
            PolicyVerb::Allow { repository, package, refused, lock, by, yes, why, until } => {
                let allowed = Allowed { why, until };
                let refused = refused.map(|since| Selection::Refused { since, by });
                if let Some(selection) = refused.or_else(|| lock.map(Selection::Lock)) {
                    return Versions { repository, selection, yes }.allow(&api, &allowed, context);
                }
                let package = package.unwrap_or_default();
                let answer = allow(&api, &repository, &package, &allowed)?;
                api.print_json(&answer, context)?;
                effect::tell(&api, &repository, &package, &allowed, context)?;
            }
            PolicyVerb::List { repository } => {
                let answer = api.get(&format!("{REPOSITORIES}/{}", segment(&repository)))?;
                if api.print_json(&answer["policy"]["exceptions"], context)? {
                    return Ok(());
                }
                let rows = decode::<RepositoryPolicy>(answer)?.policy.exceptions.into_iter().map(row).collect();
                table::write(context.out, ["PACKAGE", "WHO", "MADE", "UNTIL", "WHY"], rows)?;
                effect::tell_of_others(&api, &repository, context)?;
            }
            PolicyVerb::Withdraw { repository, package } => {
                api.delete(&format!("{REPOSITORIES}/{}/exceptions/{}", segment(&repository), segment(&package)))?;
                api.print_json(&serde_json::json!({ "withdrawn": package }), context)?;
                writeln!(context.err, "`{}` is no longer let through", failure::plain(&package))?;
            }
        }
        Ok(())
    }
}

/// The reason and the end of exceptions.
struct Allowed {
    why: String,
    until: Option<String>,
}

/// Lets a version through.
fn allow(api: &Api, repository: &str, package: &str, Allowed { why, until }: &Allowed) -> anyhow::Result<Value> {
    let body = serde_json::json!({ "package": package, "why": why, "until": until });
    api.post(&format!("{REPOSITORIES}/{}/exceptions", segment(repository)), &body)
}

fn row(exception: Exception) -> [String; 5] {
    let Exception { package, who, made, until, why } = exception;
    [package, who, made, until.unwrap_or_else(|| "-".to_owned()), why]
}

/// The beginning of a time, as questions write it: `-900s`.
fn since(text: &str) -> Result<String, String> {
    duration::parse(text).map(|time| format!("-{}s", time.as_secs().max(1)))
}

/// A moment, or a duration from now.
fn until(text: &str) -> Result<String, String> {
    match duration::parse(text) {
        Ok(time) => Ok(Clock::default().now().plus(time).to_string()),
        Err(_) if text.contains('-') => Ok(text.to_owned()),
        Err(wrong) => Err(wrong),
    }
}
