//! `daylight upgrade --rehearse`: tries this version of the program on a copy of the truth database.

use super::context::Context;
use super::failure::Failure;
use super::folder_job;
use crate::signals::{SignalAction, Signals};
use anyhow::Context as _;
use std::future::poll_fn;
use std::path::PathBuf;
use store::disk::{Disk as _, RealDisk};
use store::{Layout, Rehearsal};
use telemetry::Op;
use tokio::runtime::{Builder, Runtime};

/// What a shell reports for a program that SIGINT ended.
const INTERRUPTED: i32 = 130;
/// Most attempts to remove the folder.
const REMOVALS: usize = 100;

/// Rehearse an upgrade: open a copy of the truth database with this version, and compare
///
/// A server may be using the folder, also one of an earlier version. The copy is made in the data folder and is
/// removed afterwards; nothing else is changed. The upgrade itself is a start: `daylight serve` with the new version
/// brings the database to its form.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Upgrade {
    /// Try it on a copy, and change nothing
    #[arg(long)]
    rehearse: bool,
}

impl Upgrade {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        if !self.rehearse {
            let hint =
                "`daylight upgrade --rehearse` tries it on a copy; then start the new version with `daylight serve`";
            return Err(Failure::usage("a data folder is upgraded by a start of the new version", hint).into());
        }
        let (rehearsal, took) = folder_job::run(Op::Rehearse, context, |data, progress| {
            let runtime = remove_when_interrupted(Layout::new(data).rehearsal())?;
            let rehearsal = store::rehearse(data, progress);
            runtime.shutdown_background();
            Ok(rehearsal?)
        })?;
        let Rehearsal { seq, form_before, form_after, opened_in, differing } = rehearsal;
        let seq = seq.0;
        if context.flags.json {
            let all = serde_json::json!({
                "seq": seq, "form_before": form_before, "form_after": form_after, "differing": differing,
                "upgrade_seconds": opened_in.as_secs_f64(), "seconds": took.as_secs_f64(),
            });
            writeln!(context.out, "{all:#}")?;
        } else {
            let what = match form_before == form_after {
                true => format!("the database has the form of this version ({form_after}) already"),
                false => format!("the database goes from form {form_before} to form {form_after} in {opened_in:.1?}"),
            };
            writeln!(context.out, "rehearsed with a copy through change {seq} in {took:.1?}: {what}")?;
        }
        if differing.is_empty() {
            if !context.flags.json {
                writeln!(
                    context.out,
                    "every row of the journal is as it was, and every table is what the journal says; nothing was changed"
                )?;
            }
            return Ok(());
        }
        let text = format!("these tables are not what the journal says: {}", differing.join(", "));
        let hint = "do not upgrade: stay with the version that runs now, and report this as a defect";
        Err(Failure::new(text, Some(hint.to_owned())).into())
    }
}

/// Removes the folder and ends the program on SIGINT or SIGTERM, until the returned runtime is dropped.
#[expect(clippy::exit, reason = "the rehearsal itself may be in a statement of SQLite that takes minutes")]
fn remove_when_interrupted(folder: PathBuf) -> Result<Runtime, anyhow::Error> {
    let runtime =
        Builder::new_multi_thread().worker_threads(1).enable_all().build().context("cannot start a thread")?;
    let mut signals = Signals::listen(&runtime).context("cannot wait for signals")?;
    runtime.spawn(async move {
        while poll_fn(|cx| signals.poll(cx)).await != SignalAction::Stop {}
        // It fails if a file is made meanwhile. What is left in the end, the next rehearsal removes.
        for _ in 0..REMOVALS {
            if RealDisk.remove_folder(&folder).is_ok() {
                break;
            }
        }
        std::process::exit(INTERRUPTED);
    });
    Ok(runtime)
}
