//! What became of the files of an import, and how that is told.

use crate::cli::Context;
use crate::cli::failure::{Failure, plain};
use http::StatusCode;
use std::path::{Path, PathBuf};
use telemetry::Tick;

/// What became of a file.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It is there now.
    Uploaded,
    /// It was there already.
    There,
    /// It is not there, and why.
    Refused {
        /// Which.
        file: PathBuf,
        /// In the words of who refused it.
        reason: String,
    },
}

impl Outcome {
    /// Whether a refusal of this status is about the one file, and not about us: then the others are tried all the same.
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

    /// Which file was refused, and why.
    fn refusal(&self) -> Option<(&Path, &str)> {
        match self {
            Outcome::Refused { file, reason } => Some((file, reason)),
            Outcome::Uploaded | Outcome::There => None,
        }
    }
}

/// All that was brought in.
#[derive(Debug)]
pub(super) struct Brought {
    /// What the folder was.
    pub(super) source: String,
    /// What its files are called.
    pub(super) things: &'static str,
    /// What became of each.
    pub(super) outcomes: Vec<Outcome>,
    /// What was left out, as a key of an object, and how many of that.
    pub(super) left: (&'static str, u64),
    /// How many links were left out because they lead out of the folder.
    pub(super) outside: u64,
}

/// Says what became of the files. Those that were refused are named, last.
pub(super) fn report(
    brought: Brought,
    began: Tick,
    json: bool,
    context: &mut Context<'_>,
) -> Result<(), anyhow::Error> {
    let Brought { source, things, outcomes, left, outside } = brought;
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let uploaded = count(|outcome| matches!(outcome, Outcome::Uploaded));
    let there = count(|outcome| matches!(outcome, Outcome::There));
    let mut refused: Vec<_> = outcomes.iter().filter_map(Outcome::refusal).collect();
    refused.sort();
    let seconds = Tick::now().since(began) as f64 / 1e9;
    if json {
        let refused = refused
            .iter()
            .map(|(file, reason)| serde_json::json!({ "file": file.display().to_string(), "reason": reason }));
        let all = serde_json::json!({
            "source": source, "uploaded": uploaded, "there": there, left.0: left.1, "outside": outside,
            "refused": refused.collect::<Vec<_>>(), "seconds": seconds,
        });
        writeln!(context.out, "{all:#}")?;
    } else {
        for (file, reason) in &refused {
            writeln!(context.out, "refused: {}: {}", file.display(), plain(reason).replace('\n', "\n  "))?;
        }
        writeln!(context.out, "uploaded {uploaded} {things}, {there} were there already, in {seconds:.1} s")?;
        if outside > 0 {
            writeln!(
                context.out,
                "left out: links that lead out of the folder ({outside}); copy what they lead to into it"
            )?;
        }
    }
    match refused.len() {
        0 => Ok(()),
        many => {
            let hint = "the others are in; the same command again uploads only what is still missing";
            Err(Failure::new(format!("{many} files were refused"), Some(hint.to_owned())).into())
        }
    }
}
