//! `daylight restore`: makes a data folder from a backup.

use super::context::Context;
use super::failure::Failure;
use super::folder_job::FolderJob;
use std::path::PathBuf;
use store::Restored;
use telemetry::Op;

/// Make a data folder from a backup
///
/// The data folder is absent or empty. Everything is copied, so that the folder and the backup share no file.
/// A restore that is interrupted leaves no data folder: delete what is there, and restore again.
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(super) struct Restore {
    /// The folder that `daylight backup` made
    #[arg(value_name = "TARGET")]
    backup: PathBuf,
    #[command(flatten)]
    job: FolderJob,
}

impl Restore {
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let ((done, data), took) = self.job.run(Op::Restore, context, |data, progress| {
            Ok((store::restore(&self.backup, data, progress)?, data.display().to_string()))
        })?;
        let Restored { seq, at, blobs, size_bytes, missing, cached_files } = done;
        let (seq, at) = (seq.0, at.map(|at| at.to_string()));
        if self.job.json {
            let all = serde_json::json!({
                "seq": seq, "at": at, "blobs": blobs, "bytes": size_bytes, "kept": cached_files,
                "missing": missing.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "seconds": took.as_secs_f64(),
            });
            writeln!(context.out, "{all:#}")?;
        } else {
            let at = at.map(|at| format!(" of {at}")).unwrap_or_default();
            writeln!(
                context.out,
                "restored through change {seq}{at}: {blobs} blobs, {size_bytes} bytes\n\
                 serve it: daylight serve --data {data}"
            )?;
        }
        match missing.len() {
            0 => Ok(()),
            many => {
                let text = format!("{many} blobs are not in the backup, and therefore not in the data folder");
                let hint = "`daylight check` names them; another backup may have them";
                Err(Failure::new(text, Some(hint.to_owned())).into())
            }
        }
    }
}
