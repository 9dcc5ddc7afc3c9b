//! `daylight alerts`: the receivers of alerts of a running server, and a test whether alerts arrive.

use super::api::{Api, decode};
use super::context::Context;
use super::failure::{CommandEnded, plain};
use super::table;
use serde::Deserialize;
use serde_json::json;

const ALERTS: &str = "/api/v1/alerts";

/// Show who is told of findings as they open and close, and whether they take alerts
///
/// The receivers are `[[alerts.to]]` in the configuration file of the server. KNOWS is the number of open findings that a receiver was told of,
/// WAITING the number of findings that opened or closed and that it does not know yet.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "daylight alerts [OPTIONS]\n       daylight alerts test [OPTIONS] [NAME]"
)]
pub(super) struct AlertsCommand {
    #[command(subcommand)]
    verb: Option<AlertsVerb>,
}

#[derive(Debug, clap::Subcommand)]
enum AlertsVerb {
    /// Let the server send a test alert and its end to each receiver
    ///
    /// The exit code is 1 if one of them did not take both. An Alertmanager passes on only what goes on for longer than its `group_wait`, so it
    /// takes a test and tells nobody.
    Test {
        /// The receiver [default: all]
        name: Option<String>,
    },
}

#[derive(Debug, Deserialize)]
struct Receivers {
    receivers: Vec<Receiver>,
}

#[derive(Debug, Deserialize)]
struct Receiver {
    name: String,
    kind: String,
    to: String,
    #[serde(default)]
    kinds: Vec<String>,
    takes: Option<bool>,
    open: u64,
    waiting: u64,
    last_taken: Option<String>,
    last_failed: Option<String>,
    last_failure: Option<String>,
}

#[derive(Debug, Deserialize)]
struct AllTested {
    receivers: Vec<Tested>,
}

#[derive(Debug, Deserialize)]
struct Tested {
    name: String,
    kind: String,
    to: String,
    arrived: bool,
    why: Option<String>,
}

impl AlertsCommand {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        match self.verb {
            None => list(&api, context),
            Some(AlertsVerb::Test { name }) => test(&api, name.as_deref(), context),
        }
    }
}

fn list(api: &Api, context: &mut Context<'_>) -> anyhow::Result<()> {
    let answer = api.get(ALERTS)?;
    if api.print_json(&answer, context)? {
        return Ok(());
    }
    let rows: Vec<_> = decode::<Receivers>(answer)?.receivers.into_iter().map(row).collect();
    if rows.is_empty() {
        return nobody(context);
    }
    let head = ["NAME", "KIND", "TO", "TOLD OF", "STATE", "KNOWS", "WAITING", "LAST TAKEN", "LAST FAILURE"];
    Ok(table::write(context.out, head, rows)?)
}

fn nobody(context: &mut Context<'_>) -> anyhow::Result<()> {
    Ok(writeln!(
        context.out,
        "nobody is told of findings: the configuration file of the server has no `[[alerts.to]]`"
    )?)
}

fn row(receiver: Receiver) -> [String; 9] {
    let state = match receiver.takes {
        None => "nothing was sent yet",
        Some(true) => "ok",
        Some(false) => "takes nothing",
    };
    let failure = receiver.last_failed.map(|at| format!("{at} {}", receiver.last_failure.unwrap_or_default()));
    let or_none = |text: Option<String>| text.unwrap_or_else(|| "none".to_owned());
    [
        receiver.name,
        receiver.kind,
        receiver.to,
        receiver.kinds.join(","),
        state.to_owned(),
        receiver.open.to_string(),
        receiver.waiting.to_string(),
        or_none(receiver.last_taken),
        or_none(failure),
    ]
}

fn test(api: &Api, name: Option<&str>, context: &mut Context<'_>) -> anyhow::Result<()> {
    let answer = api.post(&format!("{ALERTS}/test"), &json!({ "name": name }))?;
    let is_json = api.print_json(&answer, context)?;
    let AllTested { receivers } = decode(answer)?;
    if !is_json {
        if receivers.is_empty() {
            return nobody(context);
        }
        for Tested { name, kind, to, arrived, why } in &receivers {
            let outcome = match why {
                _ if *arrived => "took the test alert and its end".to_owned(),
                why => format!("failed: {}", plain(why.as_deref().unwrap_or("it gave no reason"))),
            };
            writeln!(context.out, "{} ({} {}): {outcome}", plain(name), plain(kind), plain(to))?;
        }
    }
    let failed = receivers.iter().any(|tested| !tested.arrived);
    Ok(CommandEnded::of(u8::from(failed))?)
}
