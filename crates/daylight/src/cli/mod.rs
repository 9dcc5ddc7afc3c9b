//! The command line: one file for each verb. A verb reads its arguments, calls one function, and reports the result.
//!
//! Results go to standard output, everything else to standard error; `--json` is for programs. Exit codes: 0 it is
//! done, 1 it is not, 2 the command line or a setting makes no sense.

mod api;
mod backup;
mod check;
mod cleanup;
mod config;
mod context;
mod explain;
mod export;
mod failure;
mod folder;
mod folder_job;
mod frees;
mod import;
mod init;
mod journal;
mod orphan_blobs;
mod parallel;
mod policy;
mod progress;
mod purge;
mod rebuild;
mod repo;
mod repository_client;
mod restore;
mod serve;
mod table;
mod token;
mod upgrade;
mod upstreams;

use crate::config::Environment;
use clap::{Parser, Subcommand};
use context::Context;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// A package repository server you can see through.
#[derive(Debug, Parser)]
#[command(name = "daylight", version)]
#[command(after_help = "Start with `daylight serve`; every command explains itself with `--help`.")]
struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Serve(serve::Serve),
    Init(init::Init),
    Config(config::Config),
    Repo(repo::Repo),
    Policy(policy::Policy),
    Cleanup(cleanup::Cleanup),
    Purge(purge::Purge),
    Token(token::TokenCommand),
    Upstreams(upstreams::Upstreams),
    Journal(journal::Journal),
    Explain(explain::Explain),
    Import(import::Import),
    Export(export::Export),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Check(check::Check),
    Rebuild(rebuild::Rebuild),
    Upgrade(upgrade::Upgrade),
}

/// Runs the program with the arguments, environment and streams of this process.
pub fn main() -> ExitCode {
    // Files are for their owner alone: content of a private repository is private on the machine, too.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let environment = Environment::here();
    run(std::env::args_os(), &environment, &mut std::io::stdout(), &mut std::io::stderr())
}

/// Runs the program with everything that it touches, so that tests can replace it.
fn run(
    arguments: impl IntoIterator<Item = OsString>,
    environment: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> ExitCode {
    let mut context = Context { environment, out, err };
    let done = match Cli::try_parse_from(arguments) {
        Ok(cli) => dispatch(cli.verb, &mut context),
        Err(usage) => return failure::usage(&usage, &mut context),
    };
    match done.and_then(|()| Ok(context.out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error, context.err),
    }
}

fn dispatch(verb: Verb, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
    match verb {
        Verb::Serve(serve) => serve.run(context),
        Verb::Init(init) => init.run(context),
        Verb::Config(config) => config.run(context),
        Verb::Repo(repo) => repo.run(context),
        Verb::Policy(policy) => policy.run(context),
        Verb::Cleanup(cleanup) => cleanup.run(context),
        Verb::Purge(purge) => purge.run(context),
        Verb::Token(token) => token.run(context),
        Verb::Upstreams(upstreams) => upstreams.run(context),
        Verb::Journal(journal) => journal.run(context),
        Verb::Explain(explain) => explain.run(context),
        Verb::Import(import) => import.run(context),
        Verb::Export(export) => export.run(context),
        Verb::Backup(backup) => backup.run(context),
        Verb::Restore(restore) => restore.run(context),
        Verb::Check(check) => check.run(context),
        Verb::Rebuild(rebuild) => rebuild.run(context),
        Verb::Upgrade(upgrade) => upgrade.run(context),
    }
}

#[cfg(test)]
mod tests;
