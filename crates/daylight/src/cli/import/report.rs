//! The result of an import: what happened to each file.

use crate::cli::context::Context;
use crate::cli::failure::{Failure, plain};
use crate::cli::import::origin::OriginOutcome;
use http::StatusCode;
use serde_json::Value;
use std::path::{Path, PathBuf};
use telemetry::Tick;

/// Most notices that are shown.
const NOTICES_SHOWN: usize = 10;

/// What happened to a file.
#[derive(Debug)]
pub(super) enum FileOutcome {
    /// It was uploaded.
    Uploaded {
        /// What became of its origin.
        origin: OriginOutcome,
        /// What the server says of it, with its name.
        notice: Option<String>,
    },
    /// The server had it already.
    Present(OriginOutcome),
    /// It was refused.
    Refused {
        /// The file.
        file: PathBuf,
        /// Why, in the words of the server or of the reader of the file.
        reason: String,
    },
}

impl FileOutcome {
    /// Whether a refusal with this status concerns the one file only, so that the import goes on with the others.
    pub(super) fn is_about_the_file(status: StatusCode) -> bool {
        matches!(
            status,
            StatusCode::BAD_REQUEST
                | StatusCode::CONFLICT
                | StatusCode::FORBIDDEN
                | StatusCode::PAYLOAD_TOO_LARGE
                | StatusCode::UNPROCESSABLE_ENTITY
        )
    }

    /// What became of its origin.
    fn origin(&self) -> Option<OriginOutcome> {
        match self {
            FileOutcome::Uploaded { origin, .. } | FileOutcome::Present(origin) => Some(*origin),
            FileOutcome::Refused { .. } => None,
        }
    }

    /// Which file was refused, and why.
    fn refusal(&self) -> Option<(&Path, &str)> {
        match self {
            FileOutcome::Refused { file, reason } => Some((file, reason)),
            FileOutcome::Uploaded { .. } | FileOutcome::Present(_) => None,
        }
    }

    /// What the server says of an uploaded file.
    fn notice(&self) -> Option<&str> {
        match self {
            FileOutcome::Uploaded { notice, .. } => notice.as_deref(),
            FileOutcome::Present(_) | FileOutcome::Refused { .. } => None,
        }
    }
}

/// The result of an import.
#[derive(Debug)]
pub(super) struct ImportReport {
    /// What the folder is, for people.
    pub(super) source: String,
    /// What its files are called, for people.
    pub(super) noun: &'static str,
    /// What happened to each file.
    pub(super) outcomes: Vec<FileOutcome>,
    /// The files that were left out.
    pub(super) left_out: LeftOut,
    /// Whose the names of a Maven folder are, for the JSON report.
    pub(super) names: Option<Value>,
    /// What the import changed for other people, for people.
    pub(super) closing: Vec<String>,
    /// What to do about refused files, if that is known.
    pub(super) hint: Option<String>,
}

/// Files of a folder that an import does not upload.
#[derive(Debug)]
pub(super) struct LeftOut {
    /// The key of their number in the JSON report.
    pub(super) key: &'static str,
    /// How many there are, without the links.
    pub(super) files: u64,
    /// How many links lead out of the folder.
    pub(super) links_outside: u64,
}

impl ImportReport {
    /// Writes the report. Refused files are named, and make the import fail.
    pub(super) fn write(self, began: Tick, context: &mut Context<'_>) -> anyhow::Result<()> {
        let Self { source, noun, outcomes, left_out, names, closing, hint } = self;
        let outside = left_out.links_outside;
        let count = |is: fn(&FileOutcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
        let uploaded = count(|outcome| matches!(outcome, FileOutcome::Uploaded { .. }));
        let there = count(|outcome| matches!(outcome, FileOutcome::Present(_)));
        let dates = |of| outcomes.iter().filter(|outcome| outcome.origin() == Some(of)).count();
        let [set, kept, unknown, not_allowed] =
            [OriginOutcome::Set, OriginOutcome::There, OriginOutcome::Unknown, OriginOutcome::NotAllowed].map(dates);
        let mut refused: Vec<_> = outcomes.iter().filter_map(FileOutcome::refusal).collect();
        refused.sort();
        let mut notices: Vec<_> = outcomes.iter().filter_map(FileOutcome::notice).collect();
        notices.sort_unstable();
        let seconds = Tick::now().since(began) as f64 / 1e9;
        if context.flags.json {
            let refused = refused
                .iter()
                .map(|(file, reason)| serde_json::json!({ "file": file.display().to_string(), "reason": reason }));
            let mut all = serde_json::json!({
                "source": source, "uploaded": uploaded, "there": there, left_out.key: left_out.files, "outside": outside,
                "origins": { "set": set, "there": kept, "unknown": unknown, "not_allowed": not_allowed },
                "refused": refused.collect::<Vec<_>>(), "seconds": seconds,
            });
            if !notices.is_empty() {
                all["notices"] = notices.into();
            }
            if let Some(names) = names {
                all["names"] = names;
            }
            writeln!(context.out, "{all:#}")?;
        } else {
            for (file, reason) in &refused {
                writeln!(context.out, "refused: {}: {}", file.display(), plain(reason).replace('\n', "\n  "))?;
            }
            writeln!(context.out, "uploaded {uploaded} {noun}, {there} were there already, in {seconds:.1} s")?;
            writeln!(context.out, "dates of publication: {set} set, {kept} were there already, {unknown} unknown")?;
            if !notices.is_empty() {
                writeln!(context.out, "the server has a notice about {} {noun}:", notices.len())?;
            }
            for notice in notices.iter().take(NOTICES_SHOWN) {
                writeln!(context.out, "  {}", plain(notice).replace('\n', "\n    "))?;
            }
            if notices.len() > NOTICES_SHOWN {
                writeln!(context.out, "  and {} more (`--json` lists all)", notices.len() - NOTICES_SHOWN)?;
            }
            if outside > 0 {
                writeln!(
                    context.out,
                    "left out: {outside} links to files outside the folder; copy these files into it"
                )?;
            }
            for notice in closing {
                writeln!(context.out, "{}", plain(&notice))?;
            }
        }
        if not_allowed > 0 {
            writeln!(
                context.err,
                "hint: {not_allowed} {noun} are dated today, because only a token with the scope `admin` may set dates of \
                 publication; the same command with such a token corrects the dates"
            )?;
        }
        match refused.len() {
            0 => Ok(()),
            many => {
                let first = hint.map(|hint| format!("{hint}; ")).unwrap_or_default();
                let hint = "the other files were uploaded; the same command again uploads only missing files, and refuses again files \
                            that were purged or that the repository has with other bytes";
                Err(Failure::new(format!("{many} files were refused"), Some(format!("{first}{hint}"))).into())
            }
        }
    }
}
