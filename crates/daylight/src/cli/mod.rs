//! The command line: one file for each verb. A verb reads its arguments, calls one function, and reports the result.
//!
//! Results go to standard output, everything else to standard error. With `--json` a failure is one JSON object there. Exit codes: 0 the
//! command succeeded, 1 it failed, 2 the command line or a setting is wrong. `daylight front` takes over the exit code of the command that it starts.

pub(crate) mod alerts;
mod api;
mod ask;
mod backup;
mod baseline;
mod check;
mod cleanup;
mod cluster;
mod completions;
mod config;
mod context;
mod curves;
mod examples;
mod explain;
mod explained;
pub(crate) mod export;
pub(crate) mod failure;
mod findings;
mod folder;
mod folder_job;
mod frees;
mod front;
mod global_flags;
mod health;
mod import;
mod init;
mod journal;
mod kept_names;
mod manual;
mod mcp;
mod open_loop;
mod orphan_blobs;
pub(crate) mod parallel;
mod policy;
mod probe;
pub(crate) mod progress;
mod purge;
mod rebuild;
mod repair;
mod replay;
mod repo;
mod report;
pub(crate) mod repository_client;
mod restore;
mod serve;
mod settings;
mod silent_nodes;
mod sizing;
mod stored_objects;
mod table;
mod tail;
mod target;
mod token;
mod upgrade;
mod upstreams;
mod version;

use crate::config::Environment;
use clap::error::ErrorKind;
use clap::{FromArgMatches, Parser, Subcommand};
use context::Context;
pub use global_flags::completed_tree as command_tree;
use global_flags::{GlobalFlags, tree};
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

/// A package repository server that can tell, for every request, why the client got this file, a 404 or a refusal
#[derive(Debug, Parser)]
#[command(name = "daylight", version)]
#[command(
    after_help = "Start a server of repositories with `daylight serve`, and the front of an application with `daylight front`. `daylight COMMAND --help` describes each command."
)]
struct Cli {
    #[command(flatten)]
    flags: GlobalFlags,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Serve(serve::Serve),
    Front(front::FrontCommand),
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
    Tail(tail::Tail),
    Ask(ask::Ask),
    Baseline(baseline::BaselineCommand),
    Sizing(sizing::SizingCommand),
    Replay(replay::Replay),
    Health(health::HealthCommand),
    Probe(probe::ProbeCommand),
    Findings(findings::FindingsCommand),
    Alerts(alerts::AlertsCommand),
    Report(report::Report),
    Mcp(mcp::Mcp),
    Curves(curves::Curves),
    Import(import::Import),
    Export(export::Export),
    Settings(settings::Settings),
    Backup(backup::Backup),
    Restore(restore::Restore),
    Check(check::Check),
    Rebuild(rebuild::Rebuild),
    Cluster(cluster::Cluster),
    Repair(repair::Repair),
    Upgrade(upgrade::Upgrade),
    Completions(completions::Completions),
    Manual(manual::Manual),
}

/// Runs the program with the arguments, environment and streams of this process. `is_static`: it needs no shared libraries.
pub fn main(is_static: bool) -> ExitCode {
    version::linked(is_static);
    // Files are for their owner alone: content of a private repository is private on the machine, too.
    let umask = rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
    let environment = Environment::here();
    run(std::env::args_os(), &environment, Some(umask), &mut std::io::stdout(), &mut std::io::stderr())
}

/// Runs the program with everything that it touches, so that tests can replace it.
fn run(
    arguments: impl IntoIterator<Item = OsString>,
    environment: &Environment,
    umask: Option<rustix::fs::Mode>,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let (cli, command) = match parse(&arguments) {
        Ok(parsed) => parsed,
        Err(usage) if usage.kind() == ErrorKind::DisplayVersion => {
            // A reader that has left is no failure.
            let _ = version::print(failure::wants_json(&arguments), out);
            return ExitCode::SUCCESS;
        }
        Err(usage) => return failure::usage(&usage, failure::wants_json(&arguments), out, err),
    };
    let (flags, mut nowhere) = (cli.flags, std::io::sink());
    let to: &mut dyn Write = if flags.json { &mut nowhere } else { &mut *err };
    let mut context = Context { environment, flags: &flags, umask, out, err: to };
    let done = match flags.check(&command) {
        Ok(()) => dispatch(cli.verb, &mut context),
        Err(unused) => Err(unused.into()),
    };
    match done.and_then(|()| Ok(context.out.flush()?)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failure::report(&error, flags.json, err),
    }
}

/// Reads the command line. Returns the name of the command, too.
fn parse(arguments: &[OsString]) -> Result<(Cli, String), clap::Error> {
    let matches = tree().try_get_matches_from(arguments)?;
    let command = matches.subcommand_name().unwrap_or_default().to_owned();
    Ok((Cli::from_arg_matches(&matches)?, command))
}

fn dispatch(verb: Verb, context: &mut Context<'_>) -> anyhow::Result<()> {
    match verb {
        Verb::Serve(serve) => serve.run(context),
        Verb::Front(front) => front.run(context),
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
        Verb::Tail(tail) => tail.run(context),
        Verb::Ask(ask) => ask.run(context),
        Verb::Baseline(baseline) => baseline.run(context),
        Verb::Sizing(sizing) => sizing.run(context),
        Verb::Replay(replay) => replay.run(context),
        Verb::Health(health) => health.run(context),
        Verb::Probe(probe) => probe.run(context),
        Verb::Findings(findings) => findings.run(context),
        Verb::Alerts(alerts) => alerts.run(context),
        Verb::Report(report) => report.run(context),
        Verb::Mcp(mcp) => mcp.run(context),
        Verb::Curves(curves) => curves.run(context),
        Verb::Import(import) => import.run(context),
        Verb::Export(export) => export.run(context),
        Verb::Settings(settings) => settings.run(context),
        Verb::Backup(backup) => backup.run(context),
        Verb::Restore(restore) => restore.run(context),
        Verb::Check(check) => check.run(context),
        Verb::Rebuild(rebuild) => rebuild.run(context),
        Verb::Cluster(cluster) => cluster.run(context),
        Verb::Repair(repair) => repair.run(context),
        Verb::Upgrade(upgrade) => upgrade.run(context),
        Verb::Completions(completions) => completions.run(context),
        Verb::Manual(manual) => manual.run(context),
    }
}

#[cfg(test)]
mod tests;
