//! The names and versions of a group as of a moment. The owner of a name is that of now: what another member had then
//! is not shown.

use crate::error::Error;
use crate::gem::group::members::KnownMembers;
use crate::gem::group::says::{hosted_says, joined};
use crate::gem::group::{GroupGems, Member};
use crate::gem::indexes::view_log::{Md5OfInfo, ToSay};
use crate::gem::upstream::view::VisibleGem;
use format::gem::info::md5_hex;
use std::collections::BTreeMap;
use store::Entry;
use telemetry::Event;

/// Number of gems that one step of a reader thread reads.
const PAGE: usize = 1_000;

impl GroupGems<'_> {
    /// The published state of each name as of the moment.
    pub(crate) async fn past_says(
        self,
        members: &KnownMembers,
        event: &mut Event,
    ) -> Result<BTreeMap<String, ToSay>, Error> {
        let mut then: BTreeMap<String, Vec<(usize, ToSay)>> = BTreeMap::new();
        for (place, leaf) in self.leaves().iter().enumerate() {
            if Self::is_unset(leaf) && leaf.record.remote.is_some() {
                continue;
            }
            let says = match self.member(leaf)? {
                Member::Hosted(hosted) => {
                    let (mut says, mut after) = (Vec::new(), Some(String::new()));
                    while let Some(from) = after {
                        let (seen, now) = (leaf.clone(), self.now());
                        let read = move |name: &str, rows: Vec<Entry>| {
                            hosted_says(&rows, &seen, seen.view(now)).map(|says| (name.to_owned(), says))
                        };
                        let (some, last) = leaf.units(hosted.store, &from, PAGE, read, event).await?;
                        for one in some {
                            says.push(one?);
                        }
                        after = last;
                    }
                    says
                }
                Member::Remote(remote, local) => match self.remote(&remote, local).visible_gems(event).await {
                    Ok(seen) => seen.gems.into_iter().map(|gem| (gem.name.clone(), of_visible(gem))).collect(),
                    // The member was created, or first used, later.
                    Err(Error::BeforeItsTime { .. }) => Vec::new(),
                    Err(error) => return Err(error),
                },
            };
            for (name, says) in says {
                then.entry(name).or_default().push((place, says));
            }
        }
        let owned = then.into_iter().filter_map(|(name, says)| {
            let owners = members.owners(&name);
            let says = owners.iter().filter_map(|owner| says.iter().find(|(place, _)| place == owner));
            Some((name, joined(says.map(|(_, says)| says.clone()).collect(), None)?))
        });
        Ok(owned.collect())
    }
}

fn of_visible(gem: VisibleGem) -> ToSay {
    let VisibleGem { name, tokens, all, md5 } = gem;
    if tokens.is_empty() {
        return ToSay::nothing(None);
    }
    let md5 = match all {
        true => Md5OfInfo::Known(md5),
        false => {
            let basis = md5_hex(format!("{name} {} {md5}", tokens.join(",")).as_bytes());
            Md5OfInfo::Unknown { basis, known: None, likely: None }
        }
    };
    ToSay { tokens, md5, until: None }
}
