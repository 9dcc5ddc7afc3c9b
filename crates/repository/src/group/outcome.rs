//! Combines the answers of the members of a group: the file of the first member that has it, or the reason why none
//! has.

use crate::content::Content;
use crate::content::soonest;
use crate::error::{Error, Result};
use crate::group::member::MemberAnswer;
use crate::group::not_found::NotFound;
use crate::group::race::RaceOutcome;
use crate::repository::Repository;
use crate::upstream::failure::Failure;
use telemetry::{Event, MemberRecord, MemberSaid, Millis, Reason};

/// The answers so far, combined. They are added in the order of the members.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    found: Option<Content>,
    nothing: NotFound,
}

impl Outcome {
    /// Adds the answer of a member, also to the event. `missing`: until when the member is known not to have the file.
    pub(crate) fn add_answer(
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
                    // After a member that has the file, others count only if they failed.
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
                let record = record(MemberSaid::NotAsked, missing.map(|_| Reason::NoSuchFile), 0);
                event.absorb(MemberRecord { until: missing, ..record });
                self.nothing.missing_until = soonest(self.nothing.missing_until, missing);
            }
        }
    }

    /// Why no member has the file, as far as is known.
    pub(crate) fn nothing(&mut self) -> &mut NotFound {
        &mut self.nothing
    }

    /// Whether a member has the file.
    pub(crate) fn is_found(&self) -> bool {
        self.found.is_some()
    }

    /// The result. It is valid for as long as it is certain which member has the file. A release stays with the member
    /// that had it first. After a failure of a member nothing is certain. An earlier member that hides the file answers
    /// as soon as it no longer hides it.
    pub(crate) fn into_result(self, is_release: bool, path: &str, now: Millis) -> Result<Content> {
        let Self { found, nothing } = self;
        let Some(content) = found else { return Err(nothing.error(path)) };
        let sure_until =
            if nothing.failed.is_some() { Some(now) } else { nothing.missing_until.filter(|_| !is_release) };
        let fresh_until = soonest(soonest(content.fresh_until, sure_until), nothing.hidden_until);
        Ok(Content { fresh_until, ..content })
    }
}
