//! `daylight check`: whether everything that the data folder claims is so.

use super::Context;
use super::failure::{Failure, plain};
use super::folder::Folder;
use super::progress::Bar;
use std::time::Duration;
use store::{Problem, Report};
use telemetry::{Clock, Event, Op};

/// Check a data folder: rows, blobs, journal and segments against each other
///
/// Mends nothing. No server may be using the folder.
#[derive(Debug, clap::Args)]
pub(super) struct Check {
    #[command(flatten)]
    folder: Folder,
    /// Read every byte of every blob and compare its digest, too
    #[arg(long)]
    verify: bool,
    /// One JSON object instead of text
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let (settings, _) = self.folder.load(context)?;
        let data = &settings.store.data;
        let mut event = Event::job("check", Clock::default().now());
        let bar = Bar::new();
        let report = event.time(Op::Check, || store::check(data, self.verify, &mut |progress| bar.show(progress)));
        drop(bar);
        let (report, took) = (report?, Duration::from_nanos(event.tally(Op::Check).nanos));
        if self.json {
            let problems: Vec<String> = report.problems.iter().map(Problem::to_string).collect();
            let all = serde_json::json!({
                "rows": report.rows, "blobs": report.blobs, "segments": report.segments, "problems": problems,
                "seconds": took.as_secs_f64(),
            });
            writeln!(context.out, "{all:#}")?;
        } else {
            for problem in &report.problems {
                writeln!(context.out, "{}", plain(&problem.to_string()))?;
            }
            let Report { rows, blobs, segments, .. } = report;
            writeln!(context.out, "checked {rows} rows, {blobs} blobs and {segments} segments in {took:.1?}")?;
        }
        match report.problems.len() {
            0 => Ok(()),
            many => {
                let text = format!("{many} things in `{}` are not as they must be", data.display());
                Err(Failure::new(text, Some(advice(&report))).into())
            }
        }
    }
}

/// What to do about the worst of it.
fn advice(report: &Report) -> String {
    let any = |is: fn(&Problem) -> bool| report.problems.iter().any(is);
    let blobs = any(|problem| {
        matches!(problem, Problem::BlobMissing(_) | Problem::BlobSize { .. } | Problem::BlobDamaged { .. })
    });
    if blobs {
        "restore these blobs from a copy of the folder: each file is named by its SHA-256".to_owned()
    } else if any(|problem| matches!(problem, Problem::Journal(_))) {
        "`daylight rebuild` makes the truth database again from the segments".to_owned()
    } else if any(|problem| !matches!(problem, Problem::Stray(_))) {
        "packages are served as before; restore these segments from a copy of the folder before a rebuild".to_owned()
    } else {
        "nothing uses these files; move them away".to_owned()
    }
}
