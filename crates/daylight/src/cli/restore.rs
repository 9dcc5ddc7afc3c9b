//! `daylight restore`: makes a data folder from a backup.

use super::context::Context;
use super::failure::{Failure, plain};
use super::folder_job;
use super::stored_objects::StoredObjects;
use std::path::PathBuf;
use store::{Elsewhere, Restored};
use telemetry::Op;

/// Make a data folder from a backup
///
/// The data folder must be empty or not exist. All files are copied, so that it shares none with the backup. Only regular files are taken,
/// with the size and the digest that the backup names; links are never followed. After an interrupted restore no server opens the folder:
/// delete it and restore again.
#[derive(Debug, clap::Args)]
pub(super) struct Restore {
    /// The folder that `daylight backup` wrote
    #[arg(value_name = "TARGET")]
    backup: PathBuf,
    /// Then read every byte of the data folder and compare it with its digest
    #[arg(long)]
    verify: bool,
}

impl Restore {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let ((done, report, data), took) = folder_job::run(Op::Restore, context, |settings, progress| {
            let (data, objects) = (&settings.store.data, StoredObjects::of(settings)?);
            let done = store::restore(&self.backup, data, progress)?;
            let report = match self.verify {
                true => Some(store::check_with(data, true, objects.get(), progress)?),
                false => None,
            };
            Ok((done, report, data.display().to_string()))
        })?;
        let Restored { seq, at, blobs, size_bytes, missing, elsewhere, refused, cached_files } = done;
        let found = report.iter().flat_map(|report| &report.problems).map(ToString::to_string);
        let problems: Vec<String> = refused.into_iter().chain(found).map(|text| plain(&text).to_string()).collect();
        let (seq, at) = (seq.0, at.map(|at| at.to_string()));
        if context.flags.json {
            let all = serde_json::json!({
                "seq": seq, "at": at, "blobs": blobs, "bytes": size_bytes, "kept": cached_files,
                "missing": missing.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "elsewhere": elsewhere.map(|of| serde_json::json!({ "objects": of.url, "blobs": of.blobs })),
                "verified": report.is_some(), "problems": problems,
                "seconds": took.as_secs_f64(),
            });
            writeln!(context.out, "{all:#}")?;
        } else {
            let at = at.map(|at| format!(" of {at}")).unwrap_or_default();
            writeln!(context.out, "restored through change {seq}{at}: {blobs} blobs, {size_bytes} bytes")?;
            if let Some(Elsewhere { url, blobs }) = elsewhere {
                writeln!(context.out, "{blobs} of the blobs are only in `{url}`, which `store.objects` must name")?;
            }
            if report.is_some() && problems.is_empty() {
                writeln!(context.out, "every byte matches its digest")?;
            }
            problems.iter().try_for_each(|problem| writeln!(context.out, "{problem}"))?;
            writeln!(context.out, "start the server with the configuration that it had: daylight serve --data {data}")?;
        }
        match missing.len() {
            0 if problems.is_empty() => Ok(()),
            0 => {
                let noun = if problems.len() == 1 { "problem" } else { "problems" };
                let text = format!("the backup has {} {noun}", problems.len());
                let hint = "delete the damaged files in the backup and back up again if the data folder still has them; another backup \
                            may have them too";
                Err(Failure::new(text, Some(hint.to_owned())).into())
            }
            many => {
                let text = format!("{many} blobs are missing in the backup, and so in the data folder");
                let hint = "`daylight check` names them; another backup may have them";
                Err(Failure::new(text, Some(hint.to_owned())).into())
            }
        }
    }
}
