//! `daylight report`: what went on at a running server in a stretch of time, as one HTML file to hand on.

mod asked;
mod cells;
mod changed;
mod program;
mod promised;
mod saved;
mod sized;
mod traffic;
mod wrong;

use super::api::Api;
use super::context::Context;
use super::failure::{self, Failure};
use anyhow::Context as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use insight::read_moment;
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;
use telemetry::Clock;
use web::{REPORT_STYLE, ReportBlock, ReportPage, ReportSection};

/// Write what went on in a stretch of time, as one HTML file to hand on
///
/// The report tells what went on, what was wrong and when, who changed what, and what it cost and saved. The file needs no other file and no
/// scripts, and asks no other host. It has what the token in DAYLIGHT_TOKEN may see, which needs the scope `observe`, and says what it lacks.
#[derive(Debug, clap::Args)]
pub(super) struct Report {
    /// The begin of the time: before now, such as -7d or -12h, a day such as 2026-11-01, or a moment such as 2026-11-01T12:00:00Z
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true, value_parser = moment)]
    from: String,
    /// Its end
    #[arg(long, value_name = "MOMENT", allow_hyphen_values = true, default_value = "now", value_parser = moment)]
    to: String,
    /// Write it into this file; without it, to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Report {
    #[expect(clippy::disallowed_methods, reason = "a file that the caller names")]
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        let html = written(&api, &self.from, &self.to)?;
        let Some(file) = &self.out else {
            if context.flags.json {
                let hint = "`--out FILE` writes the report, and `--json` then prints its size";
                return Err(Failure::usage("the report is HTML, not JSON", hint).into());
            }
            return Ok(context.out.write_all(html.as_bytes())?);
        };
        fs::write(file, &html).with_context(|| format!("{} cannot be written", file.display()))?;
        api.print_json(&serde_json::json!({ "file": file, "bytes": html.len() }), context)?;
        Ok(writeln!(context.err, "wrote {}", file.display())?)
    }
}

/// A moment is a part of questions, so it has no more than the characters of one. The server reads it, by its clock.
fn moment(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | ':' | '.');
    let is_one = !text.is_empty() && text.len() <= 40 && text.chars().all(fits);
    if !is_one {
        return Err("expected a moment, such as -7d, 2026-11-01 or 2026-11-01T12:00:00Z".to_owned());
    }
    read_moment(text, Clock::default().now()).map(|_| text.to_owned())
}

fn written(api: &Api, from: &str, to: &str) -> anyhow::Result<String> {
    // It is the first call, so that somebody without the right learns it from the server's words.
    let (totals, asker) = traffic::Totals::read(api, from, to)?;
    let program = program::Program::read(&asker);
    let wrong = wrong::Wrong::read(&asker)?;
    let changed = changed::Changed::read(&asker);
    let saved = saved::Saved::read(&asker);
    let mut figures = totals.figures();
    figures.extend([wrong.figure(), saved.figure(), changed.figure(), program.figure()]);
    let mut summary = vec![totals.sentence()];
    summary
        .extend([wrong.sentence(), changed.sentence(), saved.sentence()].into_iter().filter(|text| !text.is_empty()));
    let section = |title: &str, blocks: Vec<ReportBlock>| ReportSection { title: title.to_owned(), blocks };
    let mut cost = wrong.cost();
    cost.extend(saved.blocks(&program));
    cost.extend(sized::blocks(&asker));
    let mut went_on = traffic::blocks(&asker, &totals);
    went_on.extend(changed.published());
    went_on.extend(program.blocks());
    let sections = vec![
        section("What went on", went_on),
        section("What was wrong", wrong.blocks().into_iter().chain(wrong::alerts(&asker)).collect()),
        section("What was changed", changed.blocks()),
        section("What it cost and saved", cost),
    ];
    let report = web::Report {
        server: cells::server(api.url()),
        time: format!("{} to {} UTC", cells::minute(asker.from()), cells::minute(asker.to())),
        made: format!(
            "Made by `daylight report` {} from what its token may see. Times are in UTC. docs/reporting.md says how each figure is made.",
            env!("CARGO_PKG_VERSION")
        )
        .replace('`', ""),
        figures,
        summary,
        sections,
    };
    let style_hash = STANDARD.encode(Sha256::digest(REPORT_STYLE.as_bytes()));
    web::html(&ReportPage { report: &report, style_hash: &style_hash }).context("the report cannot be written as HTML")
}

/// The blocks of a part, or the words about why it is missing.
fn or_missing(what: &str, read: anyhow::Result<Vec<ReportBlock>>) -> Vec<ReportBlock> {
    read.unwrap_or_else(|error| {
        let (text, hint) = failure::told(&error);
        let hint = if hint.is_empty() { hint } else { format!(" ({hint})") };
        vec![ReportBlock::Missing(cells::foreign(&format!("Not shown: {what}. {text}{hint}")))]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_has_no_character_that_could_be_another_part_of_a_question() {
        for good in ["-7d", "now", "2026-11-01", "2026-11-01T12:00:00Z", "2026-11-01T12:00:00+02:00"] {
            assert_eq!(moment(good), Ok(good.to_owned()));
        }
        for bad in ["", "foo", "yesterday.at.noon", "-7d where status = 1", "a\n", "x,y", "(now)", &"1".repeat(41)] {
            assert!(moment(bad).is_err(), "{bad}");
        }
    }
}
