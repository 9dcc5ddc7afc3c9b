//! Finds the owner of a name among the members of a group. No upstream is called with a name: its index is enough.

use crate::error::{Error, Result};
use crate::gem::group::GroupGems;
use crate::gem::group::members::KnownMembers;
use crate::gem::upstream::follow::Follow;
use crate::group::concurrent::Concurrent;
use crate::group::is_hosted;
use crate::repository::Repository;
use crate::upstream::TRIAL_PATIENCE;
use std::pin::pin;
use std::sync::Arc;
use telemetry::{Event, Op};
use tokio::time::timeout;

/// How recently an upstream's index must have been checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recent {
    /// It must have been seen once.
    Known,
    /// As recently as the regular interval.
    Usual,
    /// A few seconds ago: the client requests a name that is not listed.
    JustNow,
}

impl<'a> GroupGems<'a> {
    /// The indexes of the members that answer for a name. The event gets the members that are passed over, or whose
    /// index is unknown.
    pub(crate) async fn owners_told(self, name: &str, event: &mut Event) -> Result<Vec<usize>> {
        let (owners, members) = self.known_owners(name, event).await?;
        self.tell_passed_over(name, &members, &owners, event);
        Ok(owners)
    }

    /// The indexes of the members that answer for a name: its owner, or all that share it. Empty: no member has it.
    pub(crate) async fn owners(self, name: &str, event: &mut Event) -> Result<Vec<usize>> {
        Ok(self.known_owners(name, event).await?.0)
    }

    async fn known_owners(self, name: &str, event: &mut Event) -> Result<(Vec<usize>, KnownMembers)> {
        let mut members = KnownMembers::of_names(self, [name], event).await?;
        // Upstreams that do not matter for the decision are not waited for.
        if let Some(owner) = members.sure_owner(name) {
            return Ok((vec![owner], members));
        }
        let mut unknown = self.look(Recent::Known, event).await;
        if members.holders(name).is_empty() && self.local.repository.as_of.is_none() {
            unknown.extend(self.look(Recent::JustNow, event).await);
            members = KnownMembers::of_names(self, [name], event).await?;
        }
        let owners = members.owners(name);
        // A member before the owner may have the name, so the owner is unknown.
        let is_sure =
            |place: usize| is_hosted(&self.leaves()[place]) || unknown.iter().all(|(unknown, _)| *unknown > place);
        match owners.first() {
            Some(owner) if is_sure(*owner) => Ok((owners, members)),
            _ => {
                self.tell_unknown(&unknown, event);
                unknown.into_iter().next().map_or(Ok((owners, members)), |(_, error)| Err(error))
            }
        }
    }

    /// Checks the indexes of all remote members, several concurrently. Returns the members whose index is unknown, with
    /// the reason.
    pub(crate) async fn look(self, recent: Recent, event: &mut Event) -> Vec<(usize, Error)> {
        let remote = |(place, leaf): (usize, &'a Arc<Repository>)| {
            let follower = self.follower(leaf)?;
            let is_needed = recent != Recent::Known || !follower.is_known();
            Some((place, follower)).filter(|_| is_needed)
        };
        let all: Vec<(usize, Follow)> = self.leaves().iter().enumerate().filter_map(remote).collect();
        let Some((_, first)) = all.first() else { return Vec::new() };
        let width = first.remote.remotes.width;
        let look = |(place, follower): (usize, Follow)| async move {
            let mut event = follower.remote.part();
            let missing = self.why_missing(&self.leaves()[place]).filter(|_| recent == Recent::Usual);
            let mut ready = pin!(async {
                match recent {
                    Recent::JustNow => follower.ready_for_new(&mut event).await,
                    Recent::Known | Recent::Usual => follower.ready(&mut event).await,
                }
            });
            // There is an answer without it. The look continues.
            let early = match &missing {
                Some(_) => timeout(TRIAL_PATIENCE, &mut ready).await.ok(),
                None => None,
            };
            let arrives = || follower.index().arrivals.has(follower.remote.repository.origin);
            let done = match (early, missing) {
                (Some(done), _) => done,
                (None, Some(failure)) if !arrives() => Err(failure.into()),
                (None, _) => ready.await,
            };
            (place, done.and_then(|()| if follower.is_known() { Ok(()) } else { Err(Error::GivenUp) }))
        };
        let looking = event.running(Op::FlightWait);
        let (mut looks, mut failed) = (Concurrent::new(all.into_iter().map(look), width), Vec::new());
        while let Some((_, (place, done))) = looks.next().await {
            failed.extend(done.err().map(|error| (place, error)));
        }
        drop(looking);
        failed.sort_by_key(|(place, _)| *place);
        failed
    }

    /// The follower of a remote member's index; `None`: the member is hosted, or has no upstream URL.
    pub(crate) fn follower(self, leaf: &'a Arc<Repository>) -> Option<Follow> {
        if is_hosted(leaf) || Self::is_unset(leaf) {
            return None;
        }
        Some(self.member(leaf).upstream()?.follower())
    }
}
