//! `daylight sizing`: how many threads, calls, bytes and machines the traffic of a running server needs.

use super::api::{Api, decode};
use super::context::Context;
use super::failure::plain;
use super::table::{Head, write_under};
use format::percent::segment;
use serde::Deserialize;
use serde_json::Value;

/// Show how many of everything the traffic of a running server needs, today and with twice the traffic
///
/// Pools of threads, calls to upstreams, slots, limits, caches and the machine: what there is, what the busiest minute of the period needs, and what a
/// multiple of its traffic needs. It names the sizes that are too small, and the ones that are at least twice too large. Where data are missing, it says which.
#[derive(Debug, clap::Args)]
pub(super) struct SizingCommand {
    /// The traffic since: -24h, -7d, 2026-11-01, 2026-11-01T12:00:00Z; the counts of minutes are kept for eight days [default: -24h]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    from: Option<String>,
    /// The traffic until [default: now]
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    to: Option<String>,
    /// The multiple of the traffic, 1 to 100 [default: 2]
    #[arg(long, value_name = "NUMBER")]
    times: Option<f64>,
}

#[derive(Debug, Deserialize)]
struct Sizing {
    sentence: String,
    times: f64,
    idle: bool,
    rows: Vec<Row>,
    advice: Vec<Advice>,
}

#[derive(Debug, Deserialize)]
struct Row {
    subject: String,
    setting: Option<String>,
    unit: String,
    now: Option<u64>,
    needed: Option<u64>,
    needed_at: Option<u64>,
    why: String,
}

#[derive(Debug, Deserialize)]
struct Advice {
    setting: Option<String>,
    from: Option<u64>,
    to: Option<u64>,
    sentence: String,
}

impl SizingCommand {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        let answer: Value = api.get(&format!("/api/v1/sizing{}", self.query()))?;
        if api.print_json(&answer, context)? {
            return Ok(());
        }
        show(&decode(answer)?, context)
    }

    fn query(&self) -> String {
        let times = self.times.map(|times| times.to_string());
        let given = [("from", &self.from), ("to", &self.to), ("times", &times)];
        let query: Vec<String> =
            given.iter().filter_map(|(name, value)| Some(format!("{name}={}", segment(value.as_deref()?)))).collect();
        if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) }
    }
}

fn show(sizing: &Sizing, context: &mut Context<'_>) -> anyhow::Result<()> {
    writeln!(context.out, "{}", plain(&sizing.sentence))?;
    if sizing.idle {
        return Ok(());
    }
    let names = ["WHAT", "NOW", "NEEDED", &format!("AT {}x", sizing.times), "WHY"];
    let head: Vec<Head> = names
        .iter()
        .enumerate()
        .map(|(at, name)| Head { name: (*name).to_owned(), right: (1..4).contains(&at) })
        .collect();
    let rows = sizing.rows.iter().map(|row| {
        let amount = |amount: Option<u64>| amount.map_or_else(|| "-".to_owned(), |amount| size(amount, &row.unit));
        let what =
            row.setting.as_ref().map_or_else(|| row.subject.clone(), |setting| format!("{} ({setting})", row.subject));
        vec![what, amount(row.now), amount(row.needed), amount(row.needed_at), row.why.clone()]
    });
    writeln!(context.out)?;
    write_under(context.out, &head, rows.collect())?;
    writeln!(context.out)?;
    if sizing.advice.is_empty() {
        return Ok(writeln!(context.out, "nothing is too small, and nothing is twice too large")?);
    }
    for advice in &sizing.advice {
        writeln!(context.out, "{}", plain(&advice.sentence))?;
        if let (Some(setting), Some(to)) = (&advice.setting, advice.to) {
            let from = advice.from.map_or_else(String::new, |from| format!(", now {from}"));
            writeln!(context.out, "  change    {} = {to}{from}", plain(setting))?;
        }
    }
    Ok(())
}

/// A size with its unit, as short as people read it.
fn size(amount: u64, unit: &str) -> String {
    let per = if unit == "bytes a second" { "/s" } else { "" };
    if per.is_empty() && unit != "bytes" {
        return amount.to_string();
    }
    let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| amount >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}{per}", amount as f64 / unit as f64),
        None => format!("{amount} B{per}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        assert_eq!([size(16, "threads"), size(1536, "bytes"), size(7, "bytes")], ["16", "1.5 KiB", "7 B"]);
        assert_eq!(size(3 << 20, "bytes a second"), "3.0 MiB/s");
    }
}
