//! `daylight front`: the front of applications, and calls to one that runs.

mod purge;

use super::context::Context;
use super::failure::Failure;
use crate::app_front::{self, Front, PassedOn};
use crate::config::{self, Flag, GivenApp, Loaded, Machine, Settings};
use crate::serve::supervisor::Supervisor;
use std::ffi::OsString;
use std::path::Path;

/// Run the front of an application
///
/// Stands in front of an HTTP application that runs already (--to), or starts it (COMMAND) with the variable PORT and stops it again. Every
/// path at --listen is the application's. It passes requests on, keeps slow clients away from the application, caches what HTTP allows and
/// records every request. --admin has a page about the application, and the API. [[app]] tables of the configuration file describe several
/// applications, and more settings of each.
///
/// SIGTERM and SIGINT stop it after the requests under way; then COMMAND gets the signal, and its exit code is taken over. SIGHUP reads
/// certificates again, and COMMAND gets it and SIGUSR1. SIGUSR2 restarts Daylight with the current binary and configuration: COMMAND keeps
/// running, no connection is refused, and WebSockets and event streams have 30 seconds to end.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "daylight front [OPTIONS] (--to URL | -- COMMAND...)\n       \
          daylight front --config FILE\n       daylight front purge [OPTIONS] NAME"
)]
pub(super) struct FrontCommand {
    #[command(subcommand)]
    verb: Option<FrontVerb>,
    /// URL of the application: http://HOST[:PORT], https://HOST[:PORT] or unix:/PATH; repeat it for several backends
    #[arg(long, value_name = "URL")]
    to: Vec<String>,
    /// Address and port for the clients of the application; port 0 takes a free port [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDR", help_heading = "Settings")]
    listen: Option<String>,
    /// Address and port of the page about the application, and of the API [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDR", help_heading = "Settings")]
    admin: Option<String>,
    /// Check the settings and the certificates, and start nothing
    #[arg(long)]
    check: bool,
    /// The command that starts the application, with its arguments; it must listen on the port in the variable PORT
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "to")]
    command: Vec<OsString>,
}

#[derive(Debug, clap::Subcommand)]
enum FrontVerb {
    Purge(purge::FrontPurge),
}

impl FrontCommand {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        if let Some(FrontVerb::Purge(purge)) = self.verb {
            return purge.run(context);
        }
        if context.flags.server.is_some() || context.flags.server_trust.is_some() {
            let hint = "`--server` is for `daylight front purge`, which calls a front that runs";
            return Err(Failure::usage("`daylight front` starts a server and calls none", hint).into());
        }
        let (settings, loaded) = self.read(context)?;
        if self.check {
            return self.report_check(&settings, &loaded, context);
        }
        let read_again = || self.read(context);
        app_front::run(Front {
            settings,
            loaded,
            command: self.command.clone(),
            umask: context.umask,
            passed: PassedOn::take()?,
            supervisor: Supervisor::of(context.environment),
            read_again: &read_again,
            json: context.flags.json,
        })
    }

    /// Reads the settings.
    fn read(&self, context: &Context<'_>) -> anyhow::Result<(Settings, Loaded)> {
        let flag = |key, flag, value: &Option<String>| value.clone().map(|value| Flag { key, flag, value });
        let data = flag("store.data", "--data", &context.flags.data);
        let flags: Vec<Flag> = data.into_iter().chain(flag("server.listen", "--admin", &self.admin)).collect();
        let file = context.flags.config.as_deref().or_else(|| context.environment.config()).map(Path::new);
        let given = GivenApp { to: self.to.clone(), listen: self.listen.clone(), command: !self.command.is_empty() };
        Ok(config::load_front(file, context.environment, &flags, &given, Machine::here())?)
    }

    fn report_check(&self, settings: &Settings, loaded: &Loaded, context: &mut Context<'_>) -> anyhow::Result<()> {
        app_front::check(settings)?;
        for warning in &loaded.warnings {
            writeln!(context.err, "warning: {warning}")?;
        }
        let names: Vec<&str> = settings.apps.iter().map(|app| app.options.name.as_str()).collect();
        if context.flags.json {
            writeln!(context.out, "{:#}", serde_json::json!({ "apps": names, "warnings": loaded.warnings }))?;
        } else {
            writeln!(context.out, "the settings can be used; applications: {}", names.join(", "))?;
        }
        Ok(())
    }
}
