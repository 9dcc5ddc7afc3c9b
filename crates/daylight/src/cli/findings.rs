//! `daylight findings`: what needs attention on a running server, why, what it costs, and what to change.

mod show;

use super::api::{Api, decode};
use super::context::Context;
use super::failure::plain;
use super::silent_nodes::{self, AskedNode};
use format::percent::segment;
use insight::FindingState;
use serde::Deserialize;
use serde_json::{Value, json};
use show::Finding;
use std::io::Write;

/// The path of findings in the API.
pub(super) const FINDINGS: &str = "/api/v1/findings";

/// Show what needs attention on a running server, the most expensive first
///
/// Each finding names its cause, the seconds that clients lose to it in an hour, the setting or the command that helps, and the question and the
/// event that show it. Symptoms stand below the cause that explains them. docs/findings.md lists all checks.
#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    override_usage = "daylight findings [OPTIONS]\n       daylight findings mute [OPTIONS] --why <TEXT> --until <TIME> <ID>\n       daylight findings \
                      unmute [OPTIONS] <ID>"
)]
pub(super) struct FindingsCommand {
    #[command(subcommand)]
    verb: Option<FindingsVerb>,
    /// The findings of an earlier time: -2h..-1h, 2026-11-01..2026-11-02, 2026-11-01T12:00:00Z..now
    #[arg(long, value_name = "FROM..TO", allow_hyphen_values = true, value_parser = stretch)]
    at: Option<(String, String)>,
    /// Findings in these states [default: pending,open; with --at any]
    #[arg(long, value_name = "STATE", value_delimiter = ',', value_parser = clap::builder::PossibleValuesParser::new(FindingState::ALL.iter().map(|state| state.as_str())))]
    state: Vec<String>,
}

#[derive(Debug, clap::Subcommand)]
enum FindingsVerb {
    /// Do not show a finding until a moment
    Mute {
        /// The id of the finding
        id: String,
        /// The reason, which `daylight findings --state muted` shows
        #[arg(long, value_name = "TEXT")]
        why: String,
        /// Until when, at most 366 days from now: after a time such as 14d or 12h, or at a moment such as 2026-12-01 or 2026-12-01T08:00:00Z
        #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
        until: String,
    },
    /// Show a finding again that is muted
    Unmute {
        /// The id of the finding
        id: String,
    },
}

#[derive(Debug, Deserialize)]
struct Findings {
    findings: Vec<Finding>,
    #[serde(default)]
    nodes: Vec<AskedNode>,
}

/// How many checks can say something.
#[derive(Debug, Deserialize)]
struct Checks {
    all: u64,
    able: u64,
    all_able: Option<String>,
}

impl FindingsCommand {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        match self.verb {
            Some(FindingsVerb::Mute { id, why, until }) => {
                let answer = api.post(&at(&id), &json!({ "why": why, "until": until }))?;
                api.print_json(&answer, context)?;
                let until = plain(answer["until"].as_str().unwrap_or_default());
                writeln!(context.err, "`{}` is not shown until {until}", plain(&id))?;
                Ok(())
            }
            Some(FindingsVerb::Unmute { id }) => {
                api.delete(&at(&id))?;
                api.print_json(&json!({ "unmuted": id }), context)?;
                writeln!(context.err, "`{}` is no longer muted", plain(&id))?;
                Ok(())
            }
            None => list(&api, &self.query(), context),
        }
    }

    fn query(&self) -> String {
        let states = (!self.state.is_empty()).then(|| format!("state={}", segment(&self.state.join(","))));
        let time = self.at.as_ref().map(|(from, to)| format!("from={}&to={}", segment(from), segment(to)));
        let query = [states, time].into_iter().flatten().collect::<Vec<_>>().join("&");
        if query.is_empty() { query } else { format!("?{query}") }
    }
}

/// The path of the mute of a finding.
fn at(id: &str) -> String {
    // Slashes stand as they are: the server refuses escaped ones.
    let id = id.split('/').map(segment).collect::<Vec<_>>().join("/");
    format!("{FINDINGS}/mute/{id}")
}

fn list(api: &Api, query: &str, context: &mut Context<'_>) -> anyhow::Result<()> {
    let answer: Value = api.get(&format!("{FINDINGS}{query}"))?;
    if api.print_json(&answer, context)? {
        return Ok(());
    }
    write(api, answer, !query.is_empty(), context.out)
}

/// Writes the answer of a list for people. `chosen`: it is of some states or of a time, so no finding does not mean that nothing was found.
pub(super) fn write(api: &Api, answer: Value, chosen: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let Findings { findings, nodes } = decode(answer)?;
    for line in silent_nodes::lines(&nodes, "findings") {
        writeln!(out, "note: {line}")?;
    }
    if !findings.is_empty() {
        return Ok(show::write(out, &findings)?);
    }
    if chosen {
        return Ok(writeln!(out, "no finding is in these states, or was at that time")?);
    }
    let Checks { all, able, all_able } = decode(api.get("/api/v1/checks")?)?;
    let others = match all_able {
        _ if able == all => String::new(),
        Some(until) => format!("; the others need data until {}", plain(&until)),
        None => "; `daylight findings --state unknown` shows the data that the others need".to_owned(),
    };
    Ok(writeln!(out, "nothing found by {able} of {all} checks{others}")?)
}

/// Two moments with two points between them. The server reads them, by its clock.
fn stretch(text: &str) -> Result<(String, String), &'static str> {
    let parts = text.split_once("..").filter(|(from, to)| !from.is_empty() && !to.is_empty());
    let (from, to) = parts.ok_or("expected FROM..TO, such as -2h..-1h")?;
    Ok((from.to_owned(), to.to_owned()))
}
