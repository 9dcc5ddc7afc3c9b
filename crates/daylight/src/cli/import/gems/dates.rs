//! The dates at which gems were published on the server that they come from. The date of a file is used where nothing better is known.

use super::gemstash;
use super::plan::Gem;
use super::source::SourceKind;
use crate::cli::import::origin::credible;
use format::gem::listing;
use std::path::Path;
use store::disk::{Disk as _, RealDisk};
use telemetry::Millis;

/// Most bytes of an `/info` that are read: more than that of any gem.
const LONGEST_INFO: u64 = 16 << 20;

/// Gives versions the dates that their server noted: a Gemstash in its database, others in the `info/NAME` of a compact index beside
/// their gems. Returns the problem of a database that cannot be read.
pub(super) fn find(kind: SourceKind, folder: &Path, gems: &mut [Gem]) -> Option<String> {
    if kind == SourceKind::Gemstash {
        return from_gemstash(folder, gems);
    }
    let folders = [folder.join("info"), folder.join("data/info")];
    let infos = folders.into_iter().find(|infos| infos.is_dir())?;
    gems.iter_mut().for_each(|gem| from_info(&infos, gem));
    None
}

fn from_gemstash(folder: &Path, gems: &mut [Gem]) -> Option<String> {
    let dates = match gemstash::dates(folder) {
        Ok(dates) => dates,
        Err(error) => return Some(format!("cannot read `{}`: {error}", folder.join(gemstash::DATABASE).display())),
    };
    for version in gems.iter_mut().flat_map(|gem| &mut gem.versions) {
        if let Some(at) = dates.get(&version.package.full_name()) {
            version.published = Some(*at);
        }
    }
    None
}

fn from_info(infos: &Path, gem: &mut Gem) {
    let file = infos.join(&gem.name);
    // A link may lead out of the folder.
    let Ok(file) = RealDisk.open(&file) else { return };
    if !file.metadata().is_ok_and(|metadata| metadata.len() <= LONGEST_INFO) {
        return;
    }
    let Ok(info) = std::io::read_to_string(file) else { return };
    let moments = listing::moments(&info);
    for version in &mut gem.versions {
        let full_name = version.package.full_name();
        let at = moments.get(&full_name[gem.name.len() + 1..]).and_then(|at| credible(Millis(at * 1000)));
        version.published = at.or(version.published);
    }
}
