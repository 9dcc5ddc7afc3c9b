//! `daylight explain`: how an answer came about, or what the server would answer.

mod account;
mod groups;
mod record;

use super::api::{Api, decode};
use super::context::Context;
use account::Fetches;
use format::percent::segment;
use record::Record;

/// Explain the answer to a path: which repositories are asked, what each has, and why
///
/// For a path it shows the answer that the server would give now; it does not ask upstreams for that. With --event it shows a past
/// answer. For a hosted file that was deleted it shows by whom, when, why, and how to restore it.
#[derive(Debug, clap::Args)]
pub(super) struct Explain {
    /// Name of the repository
    #[arg(required_unless_present = "event")]
    repository: Option<String>,
    /// Path below the repository, the path of its URL, `/repository/NAME/...`, or the name of a package or version: `rack`, `rack:3.0`,
    /// `org.example:lamp`
    #[arg(required_unless_present = "event")]
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
    pub(super) fn run(self, context: &mut Context<'_>) -> Result<(), anyhow::Error> {
        let api = Api::new(context)?;
        let url = match self.event {
            Some(id) => format!("/api/v1/events/{}", segment(&id)),
            None => {
                let [repository, path] = [self.repository, self.path].map(Option::unwrap_or_default);
                let below = path.strip_prefix("/repository/").and_then(|rest| rest.strip_prefix(repository.as_str()));
                let path = below.and_then(|rest| rest.strip_prefix('/')).unwrap_or(&path);
                let [repository, path] = [repository.as_str(), path].map(segment);
                let as_of = self.as_of.map(|as_of| format!("&as_of={}", segment(&as_of))).unwrap_or_default();
                format!("/api/v1/explain?repository={repository}&path={path}{as_of}")
            }
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
