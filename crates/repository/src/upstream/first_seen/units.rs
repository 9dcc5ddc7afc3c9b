//! Reads the earlier form of first-seen facts: a unit for each folder, and one for each version and plugin in it
//! (`G/A//seen/U/versions/1.0`). These units are never written.

use crate::error::Result;
use crate::upstream::first_seen::history::{FolderHistory, Plugin};
use crate::upstream::first_seen::store::{FirstSeenStore, read_facts};
use crate::upstream::release_age::AgeRecord;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use telemetry::{Event, Millis};

/// Number of units that one read of the store returns.
const PAGE: usize = 1_000;

/// The facts in the unit of a folder.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
struct Before {
    seen: Millis,
    listed: bool,
    looked: Option<Millis>,
    in_vain: u32,
}

impl FirstSeenStore<'_> {
    /// Reads such a unit.
    pub(crate) async fn unit_before<T: DeserializeOwned>(self, unit: &str, event: &mut Event) -> Result<Option<T>> {
        let facts = match self.through {
            None => self.store.facts(self.id, unit, event).await?.facts,
            Some(through) => self.store.as_of(through).facts(self.id, unit, event).await?,
        };
        read_facts(unit, facts)
    }

    /// The facts about a folder from such units.
    pub(crate) async fn folder_before(self, folder: &str, event: &mut Event) -> Result<Option<FolderHistory>> {
        let unit = self.units.unit(folder);
        let Some(before) = self.unit_before::<Before>(&unit, event).await? else { return Ok(None) };
        let versions = self.all::<AgeRecord>(&format!("{unit}/versions/"), event).await?;
        let plugins = self.all::<Plugin>(&format!("{unit}/plugins/"), event).await?;
        let Before { seen, listed, looked, in_vain } = before;
        Ok(Some(FolderHistory { seen, listed, looked, in_vain, versions, plugins, older: true, rows: 0 }))
    }

    async fn all<T: DeserializeOwned>(self, within: &str, event: &mut Event) -> Result<BTreeMap<String, T>> {
        let (mut all, mut after) = (BTreeMap::new(), String::new());
        loop {
            let units = match self.through {
                None => self.store.units_with_facts(self.id, within, &after, PAGE, event).await?,
                Some(through) => {
                    self.store.as_of(through).units_with_facts(self.id, within, &after, PAGE, event).await?
                }
            };
            let last = units.last().filter(|_| units.len() == PAGE).map(|(unit, _)| unit.clone());
            for (unit, facts) in units {
                let said = read_facts(&unit, facts)?;
                all.extend(unit.strip_prefix(within).map(str::to_owned).zip(said));
            }
            match last {
                Some(last) => after = last,
                None => return Ok(all),
            }
        }
    }
}
