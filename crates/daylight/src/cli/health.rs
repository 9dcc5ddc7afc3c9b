//! `daylight health`: asks the server of these settings how it is, for health checks of containers and for scripts.

use super::api::Api;
use super::context::Context;
use super::failure::{Failure, plain, told};
use super::folder;
use super::target::Target;
use crate::config::{Flag, Settings};
use crate::route::public_url;
use client::{Probe, ProbeAnswer};
use std::io;
use std::time::Duration;

/// The longest time for each step: connecting, each write and each read. That of the server's own probes.
const LIMIT: Duration = Duration::from_secs(5);
/// Hint where nothing, or something else, answers.
const IS_IT_HERE: &str = "is the server running, on this machine and with these settings? `--listen ADDR` names the address of one that was \
                          started with `--listen`, or that listens on a socket of systemd";

/// Ask whether the server of these settings is ready: exit code 0 or 1
///
/// For the health checks of containers, which need no other program. Reads the same settings as `daylight serve`, and sends one request without a
/// token to `server.listen`, or on loopback if the server listens on all addresses. The certificate of the server is not checked: it is valid for
/// another name. Without `--listen`, `--config` and `--data` it asks the server that `--server` or DAYLIGHT_SERVER names, if there is one. Any
/// failure exits with 1, wrong settings too, because Docker reserves 2.
#[derive(Debug, clap::Args)]
pub(super) struct HealthCommand {
    /// Address and port, as for `daylight serve`
    #[arg(long, value_name = "ADDR", help_heading = "Settings")]
    listen: Option<String>,
    /// Ask only whether the process works, for a check that restarts it
    #[arg(long)]
    live: bool,
    /// Not ready either while its answers may lack changes of other machines
    #[arg(long, conflicts_with = "live")]
    fresh: bool,
}

impl HealthCommand {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let json = context.flags.json;
        let answer = self.ask(context).map_err(with_exit_code_1)?;
        let mut lines = answer.text.lines().map(plain);
        let first = lines.next().unwrap_or_default();
        if answer.status != 200 {
            let text = if first.is_empty() { format!("the server answered {}", answer.status) } else { first };
            let hint = "the log of the server says more";
            return Err(Failure::answered(answer.status, text, Some(hint.to_owned())).into());
        }
        if json {
            let degraded: Vec<String> = lines.map(|line| line.trim_start_matches("degraded: ").to_owned()).collect();
            writeln!(context.out, "{:#}", serde_json::json!({ "health": first, "degraded": degraded }))?;
            return Ok(());
        }
        writeln!(context.out, "{first}")?;
        lines.try_for_each(|line| writeln!(context.out, "{line}"))?;
        Ok(())
    }

    fn ask(&self, context: &Context<'_>) -> anyhow::Result<ProbeAnswer> {
        let path = match (self.live, self.fresh) {
            (true, _) => "/health/live",
            (_, true) => "/health/ready?fresh",
            _ => "/health/ready",
        };
        let flags = context.flags;
        let is_named = flags.server.is_some() || context.environment.server().is_some();
        if is_named && self.listen.is_none() && flags.config.is_none() && flags.data.is_none() {
            let target = Target { token: None, ..Target::of(context)? };
            return Api::of(target, context)?.probe(path);
        }
        let listen = self.listen.clone().map(|value| Flag { key: "server.listen", flag: "--listen", value });
        let (settings, _) = folder::read(listen, context)?;
        let probe = probe(&settings, path)?;
        probe.answer(LIMIT).map_err(|error| {
            let text = format!("the server does not answer at {}: {}", probe.address(), reason(&error));
            Failure::new(text, Some(IS_IT_HERE.to_owned())).into()
        })
    }
}

/// A request to the server of these settings, on this machine.
pub(super) fn probe(settings: &Settings, path: &str) -> anyhow::Result<Probe> {
    let server = &settings.server;
    if server.listen.port() == 0 {
        let hint = "`--listen ADDR` names the address that the server has; its log and its first line tell it";
        return Err(Failure::new("`server.listen` has port 0, so the port is not known", Some(hint.to_owned())).into());
    }
    let (proxies, is_tls) = (public_url::proxies(server), settings.speaks_tls());
    Ok(Probe::new(server.listen, path, None, is_tls, |peer| proxies.announces(peer))?)
}

/// Why there was no answer, in words.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "nothing listens there".to_owned(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => format!("silent for {} s", LIMIT.as_secs()),
        io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset => {
            "it closes the connection, as a server of TLS does that is asked without, or one with other `trusted_proxies`".to_owned()
        }
        _ => plain(&error.to_string()),
    }
}

/// The same failure with the exit code 1.
fn with_exit_code_1(error: anyhow::Error) -> anyhow::Error {
    let (text, hint) = told(&error);
    Failure::new(text, Some(hint).filter(|hint| !hint.is_empty())).into()
}
