//! What people type: one file for each verb. Reads arguments, calls one thing, and says what came of it.
//!
//! Results go to standard output, everything else to standard error; `--json` is for programs. Exit codes: 0 it is
//! done, 1 it is not, 2 the command line or a setting makes no sense.

mod api;
mod check;
mod config;
mod crew;
mod duration;
mod explain;
mod export;
mod failure;
mod folder;
mod import;
mod init;
mod policy;
mod progress;
mod rebuild;
mod repo;
mod serve;
mod site;
mod table;
mod token;
mod unnamed;
mod upstreams;

use crate::config::Environment;
use clap::{Parser, Subcommand};
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
    Token(token::Token),
    Upstreams(upstreams::Upstreams),
    Explain(explain::Explain),
    Import(import::Import),
    Export(export::Export),
    Check(check::Check),
    Rebuild(rebuild::Rebuild),
}

/// Where a verb reads its surroundings and writes what it has to say.
struct Context<'a> {
    environment: &'a Environment,
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

/// The program: this process's arguments, environment and streams.
pub fn main() -> ExitCode {
    // Whatever we make is for its owner alone: what is private in a repository is private on the machine.
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let environment = Environment::here();
    run(std::env::args_os(), &environment, &mut std::io::stdout(), &mut std::io::stderr())
}

/// The program, given everything it touches.
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
        Verb::Token(token) => token.run(context),
        Verb::Upstreams(upstreams) => upstreams.run(context),
        Verb::Explain(explain) => explain.run(context),
        Verb::Import(import) => import.run(context),
        Verb::Export(export) => export.run(context),
        Verb::Check(check) => check.run(context),
        Verb::Rebuild(rebuild) => rebuild.run(context),
    }
}

#[cfg(test)]
mod tests;
