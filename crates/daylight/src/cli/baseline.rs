//! `daylight baseline`: what requests cost whatever the machine, from a running server, and two such exports beside each other.

use super::api::Api;
use super::context::Context;
use super::failure::Failure;
use super::table;
use anyhow::Context as _;
use insight::{Baseline, BaselineDifference, RatioPair};
use std::fs;
use std::path::{Path, PathBuf};

/// Export what requests cost whatever the machine, and compare two exports
///
/// An export has operations, members, calls, connections, bytes and shares of hits for each cost class and kind of file, and how much minutes
/// differ. Two builds, or a server before and after a change, can be held against each other with it, even if their machines differ.
#[derive(Debug, clap::Args)]
pub(super) struct BaselineCommand {
    #[command(subcommand)]
    verb: BaselineVerb,
}

#[derive(Debug, clap::Subcommand)]
enum BaselineVerb {
    /// Print what requests of a running server cost, as JSON
    ///
    /// It is about this run of the server: a restart begins a new export.
    Export {
        /// The last minutes, at most 1440, which is a day [default: all]
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1440))]
        minutes: Option<u16>,
        /// Write it into this file
        #[arg(long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Compare two exports by cost class; the exit code is 1 where a ratio differs
    ///
    /// A ratio differs if each side lies outside the spread of the other, and by more than 5 %. Kinds of files count in the same proportion on
    /// both sides. Each side needs 1000 requests of a class, in at least three minutes. Times are not compared: they depend on the machine.
    Compare {
        /// The export before a change
        before: PathBuf,
        /// The export after it
        after: PathBuf,
    },
}

impl BaselineCommand {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        match self.verb {
            BaselineVerb::Export { minutes, output } => export(minutes, output.as_deref(), context),
            BaselineVerb::Compare { before, after } => compare(&before, &after, context),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a file that the caller names")]
fn export(minutes: Option<u16>, output: Option<&Path>, context: &mut Context<'_>) -> anyhow::Result<()> {
    let minutes = minutes.map_or_else(String::new, |minutes| format!("?minutes={minutes}"));
    let baseline = Api::new(context)?.get(&format!("/api/v1/baseline{minutes}"))?;
    let Some(file) = output else { return Ok(writeln!(context.out, "{baseline:#}")?) };
    fs::write(file, format!("{baseline:#}\n")).with_context(|| format!("{} cannot be written", file.display()))
}

fn compare(before: &Path, after: &Path, context: &mut Context<'_>) -> anyhow::Result<()> {
    let found = read(before)?.compare(&read(after)?);
    match context.flags.json {
        true => writeln!(context.out, "{:#}", serde_json::to_value(&found)?)?,
        false => show(&found, context)?,
    }
    match found.differs.len() {
        0 => Ok(()),
        1 => Err(Failure::new("a ratio differs", None).into()),
        n => Err(Failure::new(format!("{n} ratios differ"), None).into()),
    }
}

fn read(file: &Path) -> anyhow::Result<Baseline> {
    let text = fs::read(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let baseline: Result<Baseline, _> = serde_json::from_slice(&text);
    baseline.ok().filter(|baseline| baseline.format == Baseline::FORMAT).ok_or_else(|| {
        let hint = "`daylight baseline export --output FILE` makes one";
        Failure::new(format!("{} is no export of this version's form", file.display()), Some(hint.to_owned())).into()
    })
}

fn show(found: &BaselineDifference, context: &mut Context<'_>) -> std::io::Result<()> {
    if !found.differs.is_empty() {
        let head = ["CLASS", "RATIO", "BEFORE", "AFTER", "CHANGE", "MOST IN"];
        table::write(context.out, head, found.differs.iter().map(row).collect())?;
        writeln!(context.out)?;
    }
    let (compared, differ) = (found.compared, found.differs.len());
    writeln!(context.out, "{differ} of {compared} ratios differ")?;
    for left_out in &found.not_compared {
        let ratio = left_out.ratio.as_ref().map_or_else(String::new, |ratio| format!(", {ratio}"));
        writeln!(context.out, "not compared: {}{ratio}: {}", left_out.class, left_out.why)?;
    }
    Ok(())
}

fn row(pair: &RatioPair) -> [String; 6] {
    let change = pair.change.map_or_else(|| "new".to_owned(), |change| format!("{:+.0} %", change * 100.0));
    let value = |value: f64| format!("{value:.3}");
    let (before, after) = (value(pair.a.value), value(pair.b.value));
    [pair.class.clone(), pair.ratio.clone(), before, after, change, pair.files.join(", ")]
}
