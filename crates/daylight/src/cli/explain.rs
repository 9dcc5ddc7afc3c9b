//! `daylight explain`: how an answer came about, or what the server would answer.

mod account;
mod groups;
mod record;

use super::api::{Api, decode};
use super::context::Context;
use super::failure::{Failure, plain};
use crate::lookup::explain::below_repository;
use account::Fetches;
use format::percent::segment;
use record::Record;
use telemetry::EventId;

/// Explain the answer to a path: which repositories are asked, what each has, and why
///
/// For a path it shows the answer that the server would give now; it does not ask upstreams for that. With --event it shows a past
/// answer, for which its id alone is enough. For a hosted file that was deleted it shows by whom, when, why, and how to restore it.
#[derive(Debug, clap::Args)]
pub(super) struct Explain {
    /// Name of the repository; without a path also the URL of a file, or the id of an event
    repository: Option<String>,
    /// Path below the repository, the path of its URL, `/repository/NAME/...`, or the name of a package or version: `rack`, `rack:3.0`,
    /// `org.example:lamp`
    path: Option<String>,
    /// The repository at an earlier moment: a day (its end, in UTC), a time such as 2026-11-01T12:00:00Z, or a change `seq-N` of the
    /// journal
    #[arg(long, value_name = "MOMENT", conflicts_with = "event")]
    as_of: Option<String>,
    /// The past answer with this id in its `Daylight-Event` header
    #[arg(long, value_name = "ID", conflicts_with_all = ["repository", "path"])]
    event: Option<String>,
}

impl Explain {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        let about = |repository: &str, path: &str| {
            let as_of = self.as_of.as_deref().map(|as_of| format!("&as_of={}", segment(as_of))).unwrap_or_default();
            format!("/api/v1/explain?repository={}&path={}{as_of}", segment(repository), segment(path))
        };
        let id = self.event.as_deref().or_else(|| self.repository.as_deref().filter(|id| EventId::read(id).is_some()));
        let url = match (id, self.repository.as_deref(), self.path.as_deref()) {
            (_, Some(repository), Some(path)) => about(repository, path),
            (Some(id), ..) => format!("/api/v1/events/{}", segment(id)),
            (None, Some(one), None) => match below_repository(one) {
                Some((repository, path)) => about(repository, path),
                None => return Err(incomplete(&format!("`{}` alone names no file", plain(one))).into()),
            },
            (None, None, _) => return Err(incomplete("nothing is named to explain").into()),
        };
        let answer = api.get(&url)?;
        if api.print_json(&answer, context)? {
            return Ok(());
        }
        let record = decode::<Record>(answer)?;
        let fetches = fetches(&api, &record);
        record.show(context)?;
        if !record.ops.is_empty() {
            writeln!(context.out)?;
            account::write(context.out, &record, &fetches)?;
        } else {
            groups::write(context.out, &record)?;
        }
        Ok(())
    }
}

/// The command line names neither a file nor an answer.
fn incomplete(text: &str) -> Failure {
    let hint = "`daylight explain REPOSITORY PATH` or `daylight explain URL` explains a file, and `daylight explain --event ID` a past answer, \
                whose header `Daylight-Event` has the id; `daylight repo list` shows the repositories";
    Failure::usage(text, hint)
}

/// The most fetches of one answer that are shown.
const FETCHES_MAX: usize = 16;

/// The events of the downloads that an answer waited for, and of the downloads that these waited for. The server may have lost some of
/// them.
fn fetches(api: &Api, record: &Record) -> Fetches {
    let flights = record.members.iter().map(|member| &member.flight).chain([&record.upstream.flight]);
    let mut wanted: Vec<String> = flights.cloned().collect();
    let mut found = Fetches::new();
    while let Some(id) = wanted.pop() {
        if id.is_empty() || found.contains_key(&id) || found.len() == FETCHES_MAX {
            continue;
        }
        let event = api.get(&format!("/api/v1/events/{}", segment(&id))).ok();
        if let Some(fetch) = event.and_then(|event| decode::<Record>(event).ok()) {
            wanted.push(fetch.upstream.flight.clone());
            found.insert(id, fetch);
        }
    }
    found
}
