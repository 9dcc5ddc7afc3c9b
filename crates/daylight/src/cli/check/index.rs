//! `daylight check --index`: compares the index files of a repository with each other, as clients see them.
//!
//! Bundler abandons a source at the first `/info` whose MD5 differs from that in `/versions`, so there must be no such difference at any
//! time, not even during a push. A file that differs is read again; it is a problem if `/versions` has not changed meanwhile.

use crate::cli::failure::Failure;
use crate::cli::parallel;
use crate::cli::progress::Bar;
use crate::cli::repository_client::{RepositoryClient, RepositoryConnection};
use anyhow::Context as _;
use format::gem::info::md5_hex;
use format::gem::listing::{self, Listed, Listing};
use format::gem::{full_name, unmarshal};
use std::collections::BTreeSet;
use store::Progress;

/// Most further attempts for files that differ.
const RETRIES: usize = 5;
/// Largest older index, decompressed: some hundred bytes for each version of the public registry.
const SPECS_MAX_BYTES: u64 = 1 << 30;

/// What was compared in one repository, and the problems.
#[derive(Debug, Default)]
pub(super) struct IndexReport {
    pub(super) names: usize,
    pub(super) versions: usize,
    /// The files besides `/versions` and `/info` that the repository has, and that were compared.
    pub(super) other_files: Vec<&'static str>,
    /// A sentence for each.
    pub(super) problems: Vec<String>,
}

/// Reads all index files and compares them.
pub(super) fn compare(repository: &RepositoryClient, jobs: usize) -> anyhow::Result<IndexReport> {
    let mut connection = repository.connect()?;
    let mut listing = versions(&mut connection)?;
    let mut report = IndexReport::default();
    let bar = Bar::new();
    let mut names: Vec<String> = listing.gems.keys().cloned().collect();
    for round in 0.. {
        let total = names.len() as u64;
        let gems = names.iter().filter_map(|name| Some((name.clone(), listing.gems.get(name)?.clone())));
        let work = |connection: &mut RepositoryConnection, (name, listed): (String, Listed)| {
            let problem = info(connection, &name, &listed)?;
            anyhow::Ok(problem.map(|problem| (name, problem)))
        };
        let show = |done| bar.show(Progress { done, total, of: "gems" });
        let found = parallel::map(jobs, gems.collect::<Vec<_>>(), || repository.connect(), work, show)?;
        let differ: Vec<(String, String)> = found.into_iter().flatten().collect();
        if differ.is_empty() {
            break;
        }
        // A push in between has changed /versions, too. Such gems are compared again with the new one.
        let now = versions(&mut connection)?;
        let (confirmed, changed): (Vec<_>, Vec<_>) =
            differ.into_iter().partition(|(name, _)| now.gems.get(name) == listing.gems.get(name) || round == RETRIES);
        report.problems.extend(confirmed.into_iter().map(|(_, problem)| problem));
        names = changed.into_iter().map(|(name, _)| name).collect();
        listing = now;
    }
    report.names = listing.gems.len();
    report.versions = listing.gems.values().map(|gem| gem.offered.len()).sum();
    compare_other_files(&mut connection, &mut report)?;
    report.problems.sort();
    Ok(report)
}

fn versions(connection: &mut RepositoryConnection) -> anyhow::Result<Listing> {
    let off = || {
        let hint = "switch it on: daylight repo set REPO --protocol compact_index=on";
        Failure::new("the repository has no `/versions`", Some(hint.to_owned()))
    };
    Ok(Listing::read(&connection.text("versions")?.ok_or_else(off)?)?)
}

/// The problem of an `/info`, if there is one.
fn info(connection: &mut RepositoryConnection, name: &str, listed: &Listed) -> anyhow::Result<Option<String>> {
    let Some(bytes) = connection.bytes(&format!("info/{name}"))? else {
        return Ok(Some(format!("`{name}` is in /versions, and has no /info")));
    };
    let (found, expected) = (md5_hex(&bytes), &listed.md5);
    let text = String::from_utf8_lossy(&bytes);
    let offered: BTreeSet<String> = match listing::checksums(&text) {
        Ok(sums) => sums.into_keys().collect(),
        Err(malformed) => return Ok(Some(format!("`{name}`: {malformed}"))),
    };
    let one = |of: &BTreeSet<String>, not: &BTreeSet<String>| of.difference(not).next().cloned();
    Ok(if let Some(version) = one(&listed.offered, &offered) {
        Some(format!("`{name}` {version} is in /versions, and not in /info"))
    } else if let Some(version) = one(&offered, &listed.offered) {
        Some(format!("`{name}` {version} is in /info, and not in /versions"))
    } else if found != *expected {
        Some(format!("the /info of `{name}` has the MD5 {found}, and /versions says {expected}"))
    } else {
        None
    })
}

/// Compares the other index files with `/versions`, where the repository has them. Starts again when a push changed them meanwhile.
fn compare_other_files(connection: &mut RepositoryConnection, report: &mut IndexReport) -> anyhow::Result<()> {
    for round in 0..=RETRIES {
        let before = versions(connection)?;
        let (names, specs) = (names(connection)?, specs(connection)?);
        let after = versions(connection)?;
        if before != after && round < RETRIES {
            continue;
        }
        let live = after.gems.iter().filter(|(_, gem)| !gem.offered.is_empty());
        if let Some(names) = names {
            let live: BTreeSet<String> = live.clone().map(|(name, _)| name.clone()).collect();
            report.compare("names", &live, &names);
        }
        if let Some(specs) = specs {
            let live = live.flat_map(|(name, gem)| gem.offered.iter().map(move |version| format!("{name}-{version}")));
            report.compare("specs.4.8.gz", &live.collect(), &specs);
        }
        break;
    }
    Ok(())
}

/// The names in `/names`; `None`: the repository has no such file.
fn names(connection: &mut RepositoryConnection) -> anyhow::Result<Option<BTreeSet<String>>> {
    let Some(text) = connection.text("names")? else { return Ok(None) };
    let names = text.strip_prefix("---\n").context("/names does not begin with `---`")?;
    Ok(Some(names.lines().filter(|name| !name.is_empty()).map(str::to_owned).collect()))
}

/// The full names in the older index, releases and prereleases; `None`: the repository has no such files.
fn specs(connection: &mut RepositoryConnection) -> anyhow::Result<Option<BTreeSet<String>>> {
    let mut all = BTreeSet::new();
    for file in ["specs.4.8.gz", "prerelease_specs.4.8.gz"] {
        let Some(bytes) = connection.bytes(file)? else { return Ok(None) };
        let tuples = unmarshal::specs(&bytes, SPECS_MAX_BYTES).with_context(|| format!("`{file}`"))?;
        all.extend(tuples.iter().map(|(name, number, platform)| full_name(name, number, platform)));
    }
    Ok(Some(all))
}

impl IndexReport {
    /// Records entries that are only in `/versions` or only in the other file.
    fn compare(&mut self, file: &'static str, live: &BTreeSet<String>, other: &BTreeSet<String>) {
        let only = |these: &BTreeSet<String>, those: &BTreeSet<String>, say: &dyn Fn(&String) -> String| {
            these.difference(those).map(say).collect::<Vec<_>>()
        };
        self.problems.extend(only(live, other, &|what| format!("`{what}` is in /versions, and not in /{file}")));
        self.problems.extend(only(other, live, &|what| format!("`{what}` is in /{file}, and not in /versions")));
        self.other_files.push(file);
    }
}
