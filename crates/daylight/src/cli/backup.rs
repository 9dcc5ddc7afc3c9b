//! `daylight backup`: brings a backup of a data folder up to date, while a server works on it or not.

use super::context::Context;
use super::failure::Failure;
use super::folder_job;
use std::path::PathBuf;
use store::{BackedUp, Elsewhere};
use telemetry::Op;

/// Back up the data folder, while a server uses it or not
///
/// The target is a new or empty folder, or an earlier backup of the same data folder, which then gets only the new blobs. On the same
/// file system blobs are hard links: quick and small, but lost with the disk. Without --with-cached the cached files of upstreams are
/// left out, and a restored server fetches them again. If a backup is interrupted, the earlier one stays usable, and the next run
/// continues.
///
/// Where `store.objects` is set, the backup gets the blobs that are on the disk, and tells how many are only in object storage: copy the
/// bucket as well, or let it keep deleted objects for as long as the backup.
///
/// `daylight check --data TARGET` checks a backup, and `daylight restore` makes a data folder from it.
#[derive(Debug, clap::Args)]
pub(super) struct Backup {
    /// The folder of the backup; it is created if it does not exist
    target: PathBuf,
    /// Include the cached files of upstreams
    #[arg(long)]
    with_cached: bool,
}

impl Backup {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let (done, took) = folder_job::run(Op::Backup, context, |settings, progress| {
            Ok(store::backup(&settings.store.data, &self.target, self.with_cached, progress)?)
        })?;
        let BackedUp { seq, blobs, size_bytes, new_blobs, new_bytes, missing, elsewhere, cached_files } = done;
        let seq = seq.0;
        if context.flags.json {
            let all = serde_json::json!({
                "seq": seq, "blobs": blobs, "bytes": size_bytes, "new_blobs": new_blobs, "new_bytes": new_bytes,
                "kept": cached_files, "missing": missing.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "elsewhere": elsewhere.map(|of| serde_json::json!({ "objects": of.url, "blobs": of.blobs })),
                "seconds": took.as_secs_f64(),
            });
            writeln!(context.out, "{all:#}")?;
        } else {
            writeln!(
                context.out,
                "backed up through change {seq}: {blobs} blobs, {size_bytes} bytes, {new_bytes} new"
            )?;
            if let Some(Elsewhere { url, blobs }) = elsewhere {
                writeln!(
                    context.out,
                    "{blobs} of the blobs are only in `{url}` and not in the backup: keep that place, too"
                )?;
            }
        }
        match missing.len() {
            0 => Ok(()),
            many => {
                let text = format!("{many} blobs are missing in the data folder, and so in the backup");
                let hint = "everything else is backed up; stop the server and run `daylight check` on the data folder";
                Err(Failure::new(text, Some(hint.to_owned())).into())
            }
        }
    }
}
