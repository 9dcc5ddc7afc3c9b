//! The names and versions of a group as of a moment. The owner of a name is that of then, as the members had it; the
//! members, their order, claims and policies are those of now.

use crate::error::{Error, Result};
use crate::gem::group::GroupGems;
use crate::gem::group::members::{KnownMembers, Published};
use crate::gem::group::says::joined;
use crate::gem::indexes::view_log::ToSay;
use crate::group::is_hosted;
use crate::repository::Repository;
use std::collections::BTreeMap;
use std::sync::Arc;
use telemetry::Event;

impl GroupGems<'_> {
    /// The published state of each name as of the moment.
    pub(crate) async fn past_says(self, members: &KnownMembers, event: &mut Event) -> Result<BTreeMap<String, ToSay>> {
        let mut then: BTreeMap<String, Vec<(usize, ToSay)>> = BTreeMap::new();
        for (name, published) in &members.published {
            then.entry(name.clone()).or_default().extend(published.iter().map(Published::says));
        }
        let existed = |leaf: &Arc<Repository>| leaf.as_of.is_none_or(|past| past.through.0 >= leaf.id.0);
        let mut exists = self.leaves().iter().any(|leaf| is_hosted(leaf) && existed(leaf));
        let mut too_early = None;
        for (place, leaf) in self.leaves().iter().enumerate() {
            let member = self.member(leaf);
            let Some(remote) = member.upstream().filter(|_| !Self::is_unset(leaf)) else { continue };
            let (says, _) = match remote.states(event).await {
                Ok(states) => {
                    exists = true;
                    states
                }
                // The member was created, or first used, later.
                Err(error @ Error::BeforeItsTime { .. }) => {
                    too_early = too_early.or(Some(error));
                    continue;
                }
                Err(error) => return Err(error),
            };
            for (name, says) in says {
                then.entry(name).or_default().push((place, says));
            }
        }
        if let Some(error) = too_early.filter(|_| !exists) {
            return Err(error);
        }
        let owned = then.into_iter().filter_map(|(name, says)| {
            let owners = members.owners(&name);
            let says = owners.iter().filter_map(|owner| says.iter().find(|(place, _)| place == owner));
            Some((name, joined(says.map(|(_, says)| says.clone()).collect(), None)?))
        });
        Ok(owned.collect())
    }
}
