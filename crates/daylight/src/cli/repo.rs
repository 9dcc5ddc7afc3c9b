//! `daylight repo`: the repositories of a running server.

use super::api::{Server, segment, shape};
use super::{Context, failure, table};
use serde::Deserialize;

const PATH: &str = "/api/v1/repositories";
const HEAD: [&str; 5] = ["NAME", "FORMAT", "KIND", "READ", "CREATED"];

/// List, add, show and remove repositories of a running server
#[derive(Debug, clap::Args)]
pub(super) struct Repo {
    #[command(subcommand)]
    verb: Verb,
    #[command(flatten)]
    server: Server,
    /// JSON instead of text, as the server's API gives it
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List the repositories
    List,
    /// Add a repository
    ///
    /// Clients find it at /repository/NAME/. Anyone may read it unless it is private.
    Add {
        /// Its name in URLs
        name: String,
        /// What it holds
        #[arg(long, value_name = "FORMAT", default_value = "gem")]
        format: String,
        /// Hosted: holds packages of its own
        #[arg(long, value_name = "KIND", default_value = "hosted")]
        kind: String,
        /// Reading needs a token, too
        #[arg(long)]
        private: bool,
    },
    /// Show one repository
    Show {
        /// Its name
        name: String,
    },
    /// Remove a repository; its name is free again
    Remove {
        /// Its name
        name: String,
    },
}

#[derive(Debug, Deserialize)]
struct Repositories {
    repositories: Vec<Repository>,
}

#[derive(Debug, Deserialize)]
struct Repository {
    name: String,
    format: String,
    kind: String,
    private: bool,
    #[serde(default)]
    created: String,
}

impl Repo {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let api = self.server.api(context)?;
        match self.verb {
            Verb::List => {
                let answer = api.get(PATH)?;
                if self.json {
                    writeln!(context.out, "{answer:#}")?;
                    return Ok(());
                }
                let rows = shape::<Repositories>(answer)?.repositories.into_iter().map(row).collect();
                table::write(context.out, HEAD, rows)?;
            }
            Verb::Add { name, format, kind, private } => {
                let body = serde_json::json!({"name": name, "format": format, "kind": kind, "private": private});
                let answer = api.post(PATH, &body)?;
                if self.json {
                    writeln!(context.out, "{answer:#}")?;
                }
                writeln!(context.err, "added `{}`", failure::plain(&name))?;
            }
            Verb::Show { name } => {
                let answer = api.get(&format!("{PATH}/{}", segment(&name)))?;
                if self.json {
                    writeln!(context.out, "{answer:#}")?;
                    return Ok(());
                }
                table::write(context.out, HEAD, vec![row(shape(answer)?)])?;
            }
            Verb::Remove { name } => {
                api.delete(&format!("{PATH}/{}", segment(&name)))?;
                writeln!(context.err, "removed `{}`", failure::plain(&name))?;
            }
        }
        Ok(())
    }
}

fn row(repository: Repository) -> [String; 5] {
    let read = if repository.private { "with a token" } else { "anyone" };
    [repository.name, repository.format, repository.kind, read.to_owned(), repository.created]
}
