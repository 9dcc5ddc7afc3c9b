//! `daylight check --index` of a remote repository: the server compares what it keeps of the upstream with the upstream's index.

use crate::cli::api::{Api, REPOSITORIES, decode};
use crate::cli::context::Context;
use crate::cli::failure::plain;
use format::percent::segment;
use serde::Deserialize;
use serde_json::{Value, json};

/// What was compared, and the problems: a part of it as the API tells it, or the sum of all.
#[derive(Debug, Default, Deserialize)]
pub(super) struct UpstreamIndexReport {
    names: u64,
    versions: u64,
    infos: u64,
    older: u64,
    gems: u64,
    unproven: u64,
    koji: Option<KojiReport>,
    problems: Vec<String>,
    next: Option<String>,
}

/// The map of a Koji hub, and the cached files.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
struct KojiReport {
    builds: u64,
    files: u64,
    cached: u64,
    former: u64,
}

/// Has the server check a repository, part by part.
pub(super) fn check(api: &Api, name: &str) -> anyhow::Result<UpstreamIndexReport> {
    let url = format!("{REPOSITORIES}/{}/index-check", segment(name));
    let mut sum = UpstreamIndexReport::default();
    api.pages(&url, |answer| {
        let part: UpstreamIndexReport = decode(answer)?;
        sum.names += part.names;
        sum.versions += part.versions;
        sum.infos += part.infos;
        sum.older += part.older;
        sum.gems += part.gems;
        sum.unproven += part.unproven;
        if let Some(KojiReport { builds, files, cached, former }) = part.koji {
            let koji = sum.koji.get_or_insert_default();
            koji.builds += builds;
            koji.files += files;
            koji.cached += cached;
            koji.former += former;
        }
        sum.problems.extend(part.problems);
        Ok(part.next)
    })?;
    Ok(sum)
}

impl UpstreamIndexReport {
    /// How many things do not fit.
    pub(super) fn problems(&self) -> usize {
        self.problems.len()
    }

    pub(super) fn json(&self, name: &str) -> Value {
        let Self { names, versions, infos, older, gems, unproven, problems, .. } = self;
        if let Some(KojiReport { builds, files, cached, former }) = self.koji {
            return json!({
                "name": name, "builds": builds, "files": files, "cached": cached, "former": former,
                "problems": problems,
            });
        }
        json!({
            "name": name, "names": names, "versions": versions, "infos": infos, "older": older, "gems": gems,
            "unproven": unproven, "problems": problems,
        })
    }

    pub(super) fn write(&self, name: &str, context: &mut Context<'_>) -> std::io::Result<()> {
        let Self { names, versions, infos, older, gems, unproven, problems, .. } = self;
        for problem in problems {
            writeln!(context.out, "{name}: {}", plain(problem))?;
        }
        if let Some(KojiReport { builds, files, cached, former }) = self.koji {
            writeln!(context.out, "{name}: checked {builds} builds with {files} files and the cached files:")?;
            return writeln!(
                context.out,
                "{name}: {cached} cached files are those of the builds, {former} are of former builds"
            );
        }
        writeln!(context.out, "{name}: checked {names} names with {versions} versions and the cached files:")?;
        writeln!(context.out, "{name}: {infos} cached /info files, {older} of them older than the index")?;
        writeln!(
            context.out,
            "{name}: {gems} gems are cached, {unproven} of them without a checksum in a cached /info file"
        )
    }
}
