//! The lines of `/versions` for gems whose versions got other dates, because their `/info` has the dates.

use crate::error::Result;
use crate::gem::info_lines::{facts, render_info};
use crate::services::Served;
use crate::visible;
use format::gem;
use std::collections::BTreeMap;
use store::{Entry, Lane};
use telemetry::{Event, Millis};

/// The newest version of each of these gems, with the line that replaces the gem's.
pub(crate) async fn lines(of: Served<'_>, changed: Vec<Entry>, at: Millis, event: &mut Event) -> Result<Vec<Entry>> {
    let repository = of.repository;
    let mut gems: BTreeMap<String, Vec<Entry>> = BTreeMap::new();
    for entry in changed {
        gems.entry(entry.unit.clone()).or_default().push(entry);
    }
    let mut lines = Vec::new();
    for (name, changed) in gems {
        let mut entries = of.services.store.unit(repository.id, &name, Lane::Index, event).await?.entries;
        for entry in &mut entries {
            if let Some(changed) = changed.iter().find(|changed| changed.key == entry.key) {
                entry.clone_from(changed);
            }
        }
        entries.sort_by(|a, b| (a.published, &a.key).cmp(&(b.published, &b.key)));
        let Some(newest) = visible(&entries, repository.whole(at)).last() else { continue };
        let package = facts(newest.entry())?;
        let info = render_info(visible(&entries, repository.whole(at)), repository.info_format())?;
        let (number, md5) = (package.number.as_str(), gem::info::md5_hex(&info));
        let line = gem::versions::replacing_line(&name, number, &package.platform, &md5);
        lines.push(Entry { line: Some(line), ..newest.entry().clone() });
    }
    Ok(lines)
}
