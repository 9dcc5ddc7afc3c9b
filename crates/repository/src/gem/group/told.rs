//! The versions of a gem in a group, as the owner of the name describes them, or the first of the members that share
//! it.

use crate::content::soonest;
use crate::error::Error;
use crate::gem::describe;
use crate::gem::group::{GroupGems, Member};
use crate::gem::upstream::calls::{self, leave_out_unknown};
use crate::gem::upstream::look::LOOK_EVERY;
use crate::gem::upstream::search::{briefly, listed_versions};
use crate::visible::next_change;
use format::gem::json::{self, Published};
use serde_json::Value;
use std::collections::HashSet;
use telemetry::{Event, Millis};

/// The level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// All facts. For a gem of an upstream its `/info` is read.
    Whole,
    /// The facts in the known indexes.
    Brief,
}

/// The versions.
pub(crate) struct Told {
    pub(crate) versions: Vec<Published>,
    pub(crate) of_upstreams: OfUpstreams,
    /// When other versions become visible.
    pub(crate) until: Option<Millis>,
}

/// The versions that come from an upstream, by number and platform.
#[derive(Debug, Default)]
pub(crate) struct OfUpstreams(HashSet<(String, String)>);

impl OfUpstreams {
    fn key(version: &Published) -> (String, String) {
        (version.package.number.as_str().to_owned(), version.package.platform.clone())
    }

    /// Removes the fields that an upstream does not have.
    pub(crate) fn leave_out(&self, shown: &mut Value) {
        let text = |key: &str| shown.get(key).and_then(Value::as_str).map(str::to_owned);
        let (number, platform) = (text("number").or_else(|| text("version")), text("platform"));
        if let (Some(number), Some(platform)) = (number, platform)
            && self.0.contains(&(number, platform))
        {
            leave_out_unknown(shown);
        }
    }
}

impl Told {
    /// The gem, described by its newest version.
    pub(crate) fn newest(&self, base: &str) -> Option<Value> {
        let latest = json::latest(&self.versions)?;
        Some(match self.of_upstreams.0.contains(&OfUpstreams::key(latest)) {
            true => briefly(latest, base),
            false => json::gem(latest, base),
        })
    }
}

impl GroupGems<'_> {
    /// The versions of a gem in these members.
    pub(crate) async fn told(
        self,
        name: &str,
        owners: &[usize],
        depth: Depth,
        event: &mut Event,
    ) -> Result<Told, Error> {
        let mut told = Told { versions: Vec::new(), of_upstreams: OfUpstreams::default(), until: None };
        let mut known = HashSet::new();
        for place in owners {
            let (versions, until, is_of_upstream) = match self.member(&self.leaves()[*place])? {
                Member::Hosted(hosted) => {
                    let (rows, view) =
                        (hosted.repository.unit(hosted.store, name, event).await?, hosted.repository.view(self.now()));
                    (describe::published(&rows, view)?, next_change(&rows, view), false)
                }
                Member::Remote(remote, local) => {
                    let remote = self.remote(&remote, local);
                    match depth {
                        Depth::Whole => match remote.told(name, event).await {
                            Err(Error::NoSuchGem) => continue,
                            told => {
                                let calls::Told { versions, until } = told?;
                                let again = remote.known(|known| known.tried.plus(LOOK_EVERY)).ok();
                                (versions, soonest(until, again), true)
                            }
                        },
                        Depth::Brief => {
                            let listed = remote.gem_now(name).unwrap_or_default();
                            let view = remote.remote.repository.view(self.now());
                            (listed_versions(name, &listed, view), None, true)
                        }
                    }
                }
            };
            told.until = soonest(told.until, until);
            for version in versions {
                let key = OfUpstreams::key(&version);
                if !known.insert(key.clone()) {
                    continue;
                }
                if is_of_upstream {
                    told.of_upstreams.0.insert(key);
                }
                told.versions.push(version);
            }
        }
        Ok(told)
    }
}
