//! `daylight check --index`: whether everything that a repository's index says agrees with itself, as clients see it.
//!
//! Bundler gives a source up on the first `/info` whose MD5 is not the one in `/versions`, so there must be none at any
//! moment, also while others push: what differs is asked again, and counts when `/versions` says the same before and
//! after.

use crate::cli::crew;
use crate::cli::failure::Failure;
use crate::cli::progress::Bar;
use crate::cli::site::{Link, Site};
use anyhow::Context as _;
use format::gem::info::md5_hex;
use format::gem::listing::{self, Listed, Listing};
use format::gem::{full_name, unmarshal};
use std::collections::BTreeSet;
use store::Progress;

/// How often what differs is asked again.
const AGAIN: usize = 5;
/// What the older index may decompress to: some hundred bytes for each version of the public registry.
const OLDER_MAX_BYTES: u64 = 1 << 30;

/// What was looked at in one repository, and what disagreed.
#[derive(Debug, Default)]
pub(super) struct Report {
    pub(super) names: usize,
    pub(super) versions: usize,
    /// Which of the files beside `/versions` and `/info` there were to compare.
    pub(super) beside: Vec<&'static str>,
    /// A sentence for each.
    pub(super) problems: Vec<String>,
}

/// Reads everything and compares.
pub(super) fn walk(site: &Site, jobs: usize) -> Result<Report, anyhow::Error> {
    let mut link = site.link()?;
    let mut listing = versions(&mut link)?;
    let mut report = Report::default();
    let bar = Bar::new();
    let mut names: Vec<String> = listing.gems.keys().cloned().collect();
    for round in 0.. {
        let total = names.len() as u64;
        let gems = names.iter().filter_map(|name| Some((name.clone(), listing.gems.get(name)?.clone())));
        let work = |link: &mut Link, (name, listed): (String, Listed)| {
            let problem = info(link, &name, &listed)?;
            anyhow::Ok(problem.map(|problem| (name, problem)))
        };
        let show = |done| bar.show(Progress { done, total, of: "gems" });
        let found = crew::each(jobs, gems.collect::<Vec<_>>(), || site.link(), work, show)?;
        let differ: Vec<(String, String)> = found.into_iter().flatten().collect();
        if differ.is_empty() {
            break;
        }
        // Whoever pushed in between has changed /versions, too. Only what it says now can be held against it.
        let now = versions(&mut link)?;
        let (stays, changed): (Vec<_>, Vec<_>) =
            differ.into_iter().partition(|(name, _)| now.gems.get(name) == listing.gems.get(name) || round == AGAIN);
        report.problems.extend(stays.into_iter().map(|(_, problem)| problem));
        names = changed.into_iter().map(|(name, _)| name).collect();
        listing = now;
    }
    report.names = listing.gems.len();
    report.versions = listing.gems.values().map(|gem| gem.offered.len()).sum();
    beside(&mut link, &mut report)?;
    report.problems.sort();
    Ok(report)
}

fn versions(link: &mut Link) -> Result<Listing, anyhow::Error> {
    let off = || {
        let hint = "switch it on: daylight repo set REPO --protocol compact_index=on";
        Failure::new("the repository has no `/versions`", Some(hint.to_owned()))
    };
    Ok(Listing::read(&link.text("versions")?.ok_or_else(off)?)?)
}

/// What is wrong with an `/info`, if anything is.
fn info(link: &mut Link, name: &str, listed: &Listed) -> Result<Option<String>, anyhow::Error> {
    let Some(bytes) = link.bytes(&format!("info/{name}"))? else {
        return Ok(Some(format!("`{name}` is in /versions, and has no /info")));
    };
    let (found, expected) = (md5_hex(&bytes), &listed.md5);
    let text = String::from_utf8_lossy(&bytes);
    let told: BTreeSet<String> = match listing::checksums(&text) {
        Ok(sums) => sums.into_keys().collect(),
        Err(malformed) => return Ok(Some(format!("`{name}`: {malformed}"))),
    };
    let one = |of: &BTreeSet<String>, not: &BTreeSet<String>| of.difference(not).next().cloned();
    Ok(if let Some(version) = one(&listed.offered, &told) {
        Some(format!("`{name}` {version} is in /versions, and not in /info"))
    } else if let Some(version) = one(&told, &listed.offered) {
        Some(format!("`{name}` {version} is in /info, and not in /versions"))
    } else if found != *expected {
        Some(format!("the /info of `{name}` has the MD5 {found}, and /versions says {expected}"))
    } else {
        None
    })
}

/// Compares the files beside `/versions` with it, where they are: again and again while others change both.
fn beside(link: &mut Link, report: &mut Report) -> Result<(), anyhow::Error> {
    for round in 0..=AGAIN {
        let before = versions(link)?;
        let (names, older) = (names(link)?, older(link)?);
        let after = versions(link)?;
        if before != after && round < AGAIN {
            continue;
        }
        let live = after.gems.iter().filter(|(_, gem)| !gem.offered.is_empty());
        if let Some(names) = names {
            let live: BTreeSet<String> = live.clone().map(|(name, _)| name.clone()).collect();
            report.compare("names", &live, &names);
        }
        if let Some(older) = older {
            let live = live.flat_map(|(name, gem)| gem.offered.iter().map(move |version| format!("{name}-{version}")));
            report.compare("specs.4.8.gz", &live.collect(), &older);
        }
        break;
    }
    Ok(())
}

/// The names in `/names`; `None` where there is none.
fn names(link: &mut Link) -> Result<Option<BTreeSet<String>>, anyhow::Error> {
    let Some(text) = link.text("names")? else { return Ok(None) };
    let names = text.strip_prefix("---\n").context("/names does not begin with `---`")?;
    Ok(Some(names.lines().filter(|name| !name.is_empty()).map(str::to_owned).collect()))
}

/// The full names in the older index, releases and prereleases; `None` where there is none.
fn older(link: &mut Link) -> Result<Option<BTreeSet<String>>, anyhow::Error> {
    let mut all = BTreeSet::new();
    for file in ["specs.4.8.gz", "prerelease_specs.4.8.gz"] {
        let Some(bytes) = link.bytes(file)? else { return Ok(None) };
        let tuples = unmarshal::specs(&bytes, OLDER_MAX_BYTES).with_context(|| format!("`{file}`"))?;
        all.extend(tuples.iter().map(|(name, number, platform)| full_name(name, number, platform)));
    }
    Ok(Some(all))
}

impl Report {
    /// Takes down what is in `/versions` or in the other file alone.
    fn compare(&mut self, file: &'static str, live: &BTreeSet<String>, told: &BTreeSet<String>) {
        let only = |these: &BTreeSet<String>, those: &BTreeSet<String>, say: &dyn Fn(&String) -> String| {
            these.difference(those).map(say).collect::<Vec<_>>()
        };
        self.problems.extend(only(live, told, &|what| format!("`{what}` is in /versions, and not in /{file}")));
        self.problems.extend(only(told, live, &|what| format!("`{what}` is in /{file}, and not in /versions")));
        self.beside.push(file);
    }
}
