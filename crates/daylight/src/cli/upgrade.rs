//! `daylight upgrade --rehearse`: tries this version of the program on a copy of the truth database.

use super::context::Context;
use super::failure::Failure;
use super::folder_job;
use crate::serve::signals::{SignalAction, Signals};
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

/// Rehearse an upgrade with a copy of the database
///
/// It opens a copy of the database with this version of Daylight and compares the result with the journal. A server, also of an earlier
/// version, may be using the folder. The copy is made in the data folder and removed afterwards; nothing else changes. The upgrade itself
/// is a start of the new version: `daylight serve` converts the database.
#[derive(Debug, clap::Args)]
pub(super) struct Upgrade {
    /// Try the upgrade with a copy and change nothing
    #[arg(long)]
    rehearse: bool,
}

impl Upgrade {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        if !self.rehearse {
            let hint = "try it with `daylight upgrade --rehearse`, then start the new version with `daylight serve`";
            return Err(Failure::usage(
                "`daylight upgrade` needs `--rehearse`: the upgrade itself is a start of the new version",
                hint,
            )
            .into());
        }
        let (rehearsal, took) = folder_job::run(Op::Rehearse, context, |settings, progress| {
            let data = &settings.store.data;
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
                true => format!("the database already has the format of this version ({form_after})"),
                false => format!("the upgrade from format {form_before} to format {form_after} takes {opened_in:.1?}"),
            };
            writeln!(context.out, "rehearsed with a copy through change {seq} in {took:.1?}: {what}")?;
        }
        if differing.is_empty() {
            if !context.flags.json {
                writeln!(
                    context.out,
                    "the journal is unchanged, and every table matches it; the data folder was not changed"
                )?;
            }
            return Ok(());
        }
        let text = format!("these tables do not match the journal: {}", differing.join(", "));
        let hint = "do not upgrade: stay with the current version, and please report this as a defect";
        Err(Failure::new(text, Some(hint.to_owned())).into())
    }
}

/// Removes the folder and ends the program on SIGINT or SIGTERM, until the returned runtime is dropped.
#[expect(clippy::exit, reason = "the rehearsal itself may be in a statement of SQLite that takes minutes")]
fn remove_when_interrupted(folder: PathBuf) -> anyhow::Result<Runtime> {
    let runtime =
        Builder::new_multi_thread().worker_threads(1).enable_all().build().context("cannot start a thread")?;
    let mut signals = Signals::listen(&runtime).context("cannot wait for signals")?;
    runtime.spawn(async move {
        while !matches!(poll_fn(|cx| signals.poll(cx)).await, SignalAction::Stop(_)) {}
        // It fails if a file is made meanwhile. The next rehearsal removes files that are left.
        for _ in 0..REMOVALS {
            if RealDisk.remove_folder(&folder).is_ok() {
                break;
            }
        }
        std::process::exit(INTERRUPTED);
    });
    Ok(runtime)
}
