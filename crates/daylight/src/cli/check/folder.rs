//! `daylight check` of a data folder.

use crate::cli::context::Context;
use crate::cli::failure::{Failure, plain};
use crate::cli::folder;
use crate::cli::orphan_blobs;
use crate::cli::progress::Bar;
use crate::cli::stored_objects::StoredObjects;
use format::shell::word;
use std::time::Duration;
use store::{Problem, Report};
use telemetry::{Clock, Event, Op};

/// Most files of 0 bytes in the text. `--json` has all.
const EMPTY_MAX: usize = 20;

/// Checks the folder and prints the problems.
pub(super) fn check(verify: bool, context: &mut Context<'_>) -> anyhow::Result<()> {
    let (settings, _) = folder::load(context)?;
    let (data, objects) = (&settings.store.data, StoredObjects::of(&settings)?);
    let mut event = Event::job("check", Clock::default().now());
    let bar = Bar::new();
    let report = event.time(Op::Check, || {
        let mut report = store::check_with(data, verify, objects.get(), &mut |progress| bar.show(progress))?;
        let damaged = store::damaged_indexes(data, &repository::can_read_derived)?;
        report.problems.extend(damaged.into_iter().map(Problem::IndexDamaged));
        Ok::<_, store::Error>(report)
    });
    drop(bar);
    let (report, took) = (report?, Duration::from_nanos(event.tally(Op::Check).nanos));
    if context.flags.json {
        let problems: Vec<String> = report.problems.iter().map(Problem::to_string).collect();
        let all = serde_json::json!({
            "rows": report.rows, "blobs": report.blobs, "segments": report.segments,
            "objects": report.objects, "unchecked": report.unchecked, "kept": report.cached_files, "kept_read": report.cached_files_read, "problems": problems,
            "leftovers": report.leftovers.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
            "empty_files": report.empty_files.iter().map(|(repository, path)| {
                serde_json::json!({ "repository": repository, "path": path })
            }).collect::<Vec<_>>(),
            "unnamed": orphan_blobs::json(&report.orphans), "seconds": took.as_secs_f64(),
        });
        writeln!(context.out, "{all:#}")?;
    } else {
        for problem in &report.problems {
            writeln!(context.out, "{}", plain(&problem.to_string()))?;
        }
        orphan_blobs::write(&report.orphans, context)?;
        write_empty_files(&report.empty_files, context)?;
        if !report.leftovers.is_empty() {
            let many = report.leftovers.len();
            writeln!(
                context.out,
                "{many} uploads or fetches were interrupted: the next start of the server removes their files"
            )?;
        }
        let Report { rows, blobs, objects, unchecked, segments, .. } = report;
        let Report { cached_files: kept, cached_files_read: kept_read, .. } = report;
        writeln!(context.out, "checked {rows} rows, {blobs} blobs and {segments} segments in {took:.1?}")?;
        if objects > 0 {
            writeln!(context.out, "looked for {objects} blobs in object storage")?;
        }
        if unchecked > 0 {
            writeln!(context.out, "{unchecked} blobs are only in object storage, and were not checked")?;
        }
        if kept > 0 {
            writeln!(context.out, "read {kept_read} of {kept} cached files of upstreams")?;
        }
    }
    match report.problems.len() {
        0 => Ok(()),
        many => {
            let noun = if many == 1 { "problem" } else { "problems" };
            let text = format!("`{}` has {many} {noun}", data.display());
            Err(Failure::new(text, Some(advice(&report))).into())
        }
    }
}

/// Lists published files of 0 bytes. They are no damage: a marker is empty on purpose, and a file that an interrupted tool uploaded is
/// not.
fn write_empty_files(files: &[(String, String)], context: &mut Context<'_>) -> anyhow::Result<()> {
    if files.is_empty() {
        return Ok(());
    }
    writeln!(
        context.out,
        "{} published files have 0 bytes. Where one is not meant so, its command removes it:",
        files.len()
    )?;
    for (repository, path) in files.iter().take(EMPTY_MAX) {
        let line = format!("  daylight purge --why 0-bytes --yes -- {} {}", word(repository), word(path));
        writeln!(context.out, "{}", plain(&line))?;
    }
    if files.len() > EMPTY_MAX {
        writeln!(context.out, "and {} more; --json lists all", files.len() - EMPTY_MAX)?;
    }
    Ok(())
}

/// The hint for the worst problem.
fn advice(report: &Report) -> String {
    let any = |is: fn(&Problem) -> bool| report.problems.iter().any(is);
    let blobs = any(|problem| {
        matches!(problem, Problem::BlobMissing(_) | Problem::BlobSize { .. } | Problem::BlobDamaged { .. })
    });
    if blobs {
        "copy these blobs from a backup: the name of each file is its SHA-256. If this is a backup, delete the damaged files: \
         `daylight backup` copies them again"
            .to_owned()
    } else if any(|problem| matches!(problem, Problem::ObjectMissing(_) | Problem::ObjectDamaged { .. })) {
        "a start of the server sends these blobs again where its disk has them; otherwise bring the objects back from a copy of the \
         bucket"
            .to_owned()
    } else if any(|problem| matches!(problem, Problem::Journal(_))) {
        "`daylight rebuild` makes the database again from the segments".to_owned()
    } else if any(|problem| {
        !matches!(problem, Problem::Stray(_) | Problem::CachedFileDamaged { .. } | Problem::IndexDamaged(_))
    }) {
        "the server works without these segments, but a rebuild needs them: copy them from a backup".to_owned()
    } else if any(|problem| matches!(problem, Problem::CachedFileDamaged { .. })) {
        "the disk may be failing; the server fetches a damaged cached file again when it reads it".to_owned()
    } else if any(|problem| matches!(problem, Problem::IndexDamaged(_))) {
        "the server makes damaged indexes again from the rows at their first use; `daylight rebuild` removes them, too"
            .to_owned()
    } else {
        "nothing uses these files; move them away".to_owned()
    }
}
