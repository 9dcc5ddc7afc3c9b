//! The answer of a group about one version. It comes from the owner of the name.

use crate::error::{Error, Result};
use crate::found::Found as Any;
use crate::gem::download::Part;
use crate::gem::group::GroupGems;
use crate::group::is_hosted;
use format::gem::spelling::{READINGS, readings};
use telemetry::Event;

impl GroupGems<'_> {
    /// A part of the version with this full name. The name can be read as versions of several gems. Each gem is
    /// requested from its owner only, and under no other name. The order of the members decides between the readings,
    /// not the position of the split, because publishers upstream can choose that.
    pub(crate) async fn file(self, part: Part, full_name: &str, event: &mut Event) -> Result<Any> {
        let mut meant: Vec<(&str, Vec<usize>)> = Vec::new();
        let mut refusal = Error::NoSuchPackage;
        for reading in readings(full_name).take(READINGS) {
            match self.owners_told(reading.name, event).await {
                Ok(owners) => meant.push((reading.name, owners)),
                Err(error) => refusal = error,
            }
        }
        meant.sort_by_key(|(name, owners)| owners.first().map(|place| self.rank(*place, name)));
        let asked = meant.iter().flat_map(|(name, owners)| owners.iter().map(|place| (*place, *name)));
        let mut refused: Option<(usize, &str)> = None;
        for (place, name) in asked {
            // A version of another member with the same full name does not replace a removed one.
            if refused.is_some_and(|(by, of)| by != place && of != name) {
                continue;
            }
            let (member, is_it) = (self.member(&self.leaves()[place]), |other: &str| other == name);
            let found = member.source().file(part, full_name, &is_it, event).await;
            self.tell_asked(place, &found, event);
            match found {
                Err(Error::NoSuchPackage) => {}
                // The first refusal is what pages tell.
                Err(error @ (Error::Withdrawn(_) | Error::Hidden(_))) => {
                    if refused.is_none() {
                        (refused, refusal) = (Some((place, name)), error);
                    }
                }
                found => return found,
            }
        }
        Err(refusal)
    }

    /// The precedence of a reading: hosted members first, then members that claim the name, then the order.
    fn rank(self, place: usize, name: &str) -> (bool, bool, usize) {
        let leaf = &self.leaves()[place];
        (!is_hosted(leaf), !leaf.record.claims(name), place)
    }
}
