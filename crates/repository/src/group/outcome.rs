//! What becomes of the members of a group who are asked for a file, and what that comes to: the file of the first that has it,
//! or why there is none.

use crate::content::Content;
use crate::content::soonest;
use crate::error::Error;
use crate::found::Found;
use crate::group::member::MemberAnswer;
use crate::group::not_found::NotFound;
use crate::group::race::RaceOutcome;
use crate::repository::Repository;
use crate::upstream::failure::Failure;
use telemetry::{Event, MemberRecord, MemberSaid, Millis, Reason};

/// What the answers of members come to, so far; told in the order of members.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    found: Option<Content>,
    nothing: NotFound,
}

impl Outcome {
    /// What became of a member; `missing`: it was known not to have the file, until then. The event is told.
    pub(crate) fn told(
        &mut self,
        leaf: &Repository,
        came: RaceOutcome<MemberAnswer>,
        missing: Option<Millis>,
        event: &mut Event,
    ) {
        let record = |said, reason, nanos| MemberRecord { nanos, ..MemberRecord::new(&leaf.record.name, said, reason) };
        match came {
            RaceOutcome::Answer(MemberAnswer { content, record, detail }) => {
                event.absorb(record);
                match content {
                    Ok(content) => {
                        self.found.get_or_insert(content);
                    }
                    // What those have not that come after whoever has it is nobody's concern, but that they failed.
                    Err(error) if self.found.is_some() && error.fresh_until().is_some() => {}
                    Err(error) => self.nothing.add(error, &detail, event),
                }
            }
            RaceOutcome::Late(nanos) => {
                let failure = Failure::late();
                event.absorb(record(MemberSaid::Timeout, Some(failure.reason), nanos));
                let detail = failure.detail();
                self.nothing.add(Error::Upstream(failure), &detail, event);
            }
            RaceOutcome::Dropped(nanos) => event.absorb(record(MemberSaid::Cancelled, None, nanos)),
            RaceOutcome::NotAsked if self.found.is_some() => {}
            RaceOutcome::NotAsked => {
                event.absorb(record(MemberSaid::NotAsked, missing.map(|_| Reason::NoSuchFile), 0));
                self.nothing.missing_until = soonest(self.nothing.missing_until, missing);
            }
        }
    }

    /// Whether it is found.
    pub(crate) fn is_sure(&self) -> bool {
        self.found.is_some()
    }

    /// What it comes to. What was found is so for no longer than it is sure who has it: the release in a `steady` folder is
    /// whose it was first, where a member fails nobody knows, and an earlier one that hides it answers once it no longer does.
    pub(crate) fn found(self, steady: bool, path: &str, now: Millis) -> Result<Found, Error> {
        let Self { found, nothing } = self;
        let Some(content) = found else { return Err(nothing.error(path)) };
        let sure_until = if nothing.failed.is_some() { Some(now) } else { nothing.missing_until.filter(|_| !steady) };
        let fresh_until = soonest(soonest(content.fresh_until, sure_until), nothing.hidden_until);
        Ok(Found::Content(Content { fresh_until, ..content }))
    }
}
