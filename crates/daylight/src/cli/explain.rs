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
use serde_json::Value;
use std::io::Write;
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
    /// The repository at an earlier moment: a day (its end, in UTC), a time such as 2026-11-01T12:00:00Z, a change `seq-N` of the
    /// journal, or an event `koji-N` of Koji
    #[arg(long, value_name = "MOMENT", conflicts_with = "event")]
    as_of: Option<String>,
    /// The past answer with this id in its `Daylight-Event` header
    #[arg(long, value_name = "ID", conflicts_with_all = ["repository", "path"])]
    event: Option<String>,
}

impl Explain {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        let about = |repository: &str, path: &str| about(repository, path, self.as_of.as_deref());
        let id = self.event.as_deref().or_else(|| self.repository.as_deref().filter(|id| EventId::read(id).is_some()));
        let url = match (id, self.repository.as_deref(), self.path.as_deref()) {
            (_, Some(repository), Some(path)) => about(repository, path),
            (Some(id), ..) => event(id),
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
        write(&api, answer, context.out)
    }
}

/// Writes an answer for people: the request, its members, and where its time went.
pub(super) fn write(api: &Api, answer: Value, out: &mut dyn Write) -> anyhow::Result<()> {
    let record = decode::<Record>(answer)?;
    let fetches = fetches(api, &record);
    record.show(out)?;
    if !record.ops.is_empty() {
        writeln!(out)?;
        account::write(out, &record, &fetches)?;
    } else {
        groups::write(out, &record)?;
    }
    Ok(())
}

/// The path of the answer to a path in the API.
pub(super) fn about(repository: &str, path: &str, as_of: Option<&str>) -> String {
    let as_of = as_of.map(|as_of| format!("&as_of={}", segment(as_of))).unwrap_or_default();
    format!("/api/v1/explain?repository={}&path={}{as_of}", segment(repository), segment(path))
}

/// The path of a past answer in the API.
pub(super) fn event(id: &str) -> String {
    format!("/api/v1/events/{}", segment(id))
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
        let fetched = api.get(&event(&id)).ok();
        if let Some(fetch) = fetched.and_then(|event| decode::<Record>(event).ok()) {
            wanted.push(fetch.upstream.flight.clone());
            found.insert(id, fetch);
        }
    }
    found
}
