//! One generated gem: its versions over the years, with the facts of an upload.

use super::Corpus;
use super::random::Random;
use anyhow::Result;
use format::gem::dependencies;
use format::gem::info::{self, FormatVersion};
use format::gem::{Dependency, Kind, Package, Requirement, Version};
use std::collections::BTreeMap;
use store::{Entry, Facts, Hashes, State};
use telemetry::Millis;

/// 2009-01-01 and 2026-05-01, in seconds.
const BEGAN: u64 = 1_230_768_000;
const ENDED: u64 = 1_777_593_600;
/// The mean number of versions of most gems; with the popular gems the overall mean is 8.
const MEAN: f64 = 7.3;
/// The number of versions of the most popular gem. The following gems have fewer, down to the normal number.
const MOST: f64 = 2600.0;
const PLATFORMS: &[&str] = &["ruby", "java", "x86_64-linux", "arm64-darwin", "x64-mingw-ucrt"];

/// The properties that all versions of a gem share.
struct Habits {
    name: String,
    author: String,
    summary: String,
    description: Option<String>,
    platforms: &'static [&'static str],
}

/// The entries of the gem at `place` in byte order of the names, oldest first. The line of the last entry lists all live
/// versions, as after a rebuild of `/versions`.
pub(super) fn entries(corpus: &Corpus, place: usize, hashes: &Hashes) -> Result<Vec<Entry>> {
    let random = &mut Random::new(corpus.seed, 1 + place as u64);
    let name = corpus.names[place].clone();
    let native = random.chance(2.0) && !corpus.single;
    let habits = Habits {
        author: format!(
            "{} {}",
            random.of(&["Ada", "Ben", "Cleo", "Dan", "Eva"]),
            random.of(&["Hill", "Lake", "Moor"])
        ),
        summary: format!("Everything about {name} that a program needs"),
        description: random.chance(60.0).then(|| format!("{name} reads and writes. It is small and does one thing.")),
        platforms: if native { PLATFORMS } else { &PLATFORMS[..1] },
        name,
    };
    let count = versions(corpus, place, random).div_ceil(habits.platforms.len());
    let mut dependencies = dependencies(corpus, random, &habits.name)?;
    let mut at = BEGAN + (random.unit() * (ENDED - BEGAN) as f64 * 0.9) as u64;
    let step = (ENDED - at) as f64 / (count + 1) as f64;
    let (mut number, mut entries) = ([0, 1, 0], Vec::with_capacity(count));
    // Whether the release after the last prerelease is still missing.
    let mut waiting = false;
    for turn in 0..count {
        if random.chance(5.0) {
            dependencies = self::dependencies(corpus, random, &habits.name)?;
        }
        at += (step * (0.2 + 0.8 * random.unit())) as u64;
        let prerelease = random.chance(3.0) && !waiting;
        waiting = prerelease;
        let text = format!("{}.{}.{}{}", number[0], number[1], number[2], if prerelease { ".rc1" } else { "" });
        for (later, platform) in habits.platforms.iter().enumerate() {
            let package = package(&habits, &text, platform, &dependencies, at)?;
            // A version for another platform follows within the second, with the same number.
            let published = Millis((at * 1000 + turn as u64 % 7 * 100 + later as u64).cast_signed());
            let state = if random.chance(1.0) { State::Withdrawn } else { State::Live };
            entries.push(entry(package, published, state, hashes)?);
        }
        if !prerelease {
            next(&mut number, random);
        }
    }
    announce(&mut entries)?;
    Ok(entries)
}

/// A line with as many versions as the gem at `place` has.
pub(super) fn line(corpus: &Corpus, place: usize) -> String {
    let (random, name) = (&mut Random::new(corpus.seed, 1 + place as u64), &corpus.names[place]);
    let (mut number, mut tokens) = ([0, 1, 0], Vec::new());
    for _ in 0..versions(corpus, place, random) {
        tokens.push(number.map(|part| part.to_string()).join("."));
        next(&mut number, random);
    }
    format!("{name} {} {}", tokens.join(","), info::md5_hex(name.as_bytes()))
}

/// The number of versions: the most popular gems have the most.
fn versions(corpus: &Corpus, place: usize, random: &mut Random) -> usize {
    if corpus.single {
        return 1;
    }
    let rank = corpus.rank[place];
    let tail = if rank < corpus.names.len().div_ceil(50) { MOST / ((rank + 1) as f64).powf(0.7) } else { 0.0 };
    random.geometric(MEAN).max(tail as usize)
}

fn next(number: &mut [u64; 3], random: &mut Random) {
    let [major, minor, patch] = *number;
    *number = match random.below(100) {
        0..=2 => [major + 1, 0, 0],
        3..=24 => [major, minor + 1, 0],
        _ => [major, minor, patch + 1],
    };
}

fn dependencies(corpus: &Corpus, random: &mut Random, name: &str) -> Result<Vec<Dependency>> {
    let mut all: BTreeMap<&str, Dependency> = BTreeMap::new();
    let runtime = if random.chance(25.0) { 0 } else { random.geometric(3.0).min(40) };
    for turn in 0..runtime + 2 {
        let other = corpus.popular(random);
        if other == name {
            continue;
        }
        let (a, b, c) = (random.below(6), random.below(10), random.below(20));
        let requirement = match random.below(100) {
            0..=34 => ">= 0".to_owned(),
            35..=74 => format!("~> {a}.{b}"),
            75..=89 => format!(">= {a}.{b}, < {}", a + 2),
            _ => format!("= {a}.{b}.{c}"),
        };
        let kind = if turn < runtime { Kind::Runtime } else { Kind::Development };
        let requirement = Requirement::parse(&requirement)?;
        all.insert(other, Dependency { name: other.to_owned(), kind, requirement });
    }
    Ok(all.into_values().collect())
}

fn package(habits: &Habits, number: &str, platform: &str, dependencies: &[Dependency], at: u64) -> Result<Package> {
    let page = format!("https://{}.example", habits.name);
    Ok(Package {
        v: Package::V,
        name: habits.name.clone(),
        number: Version::published(number)?,
        platform: platform.to_owned(),
        authors: vec![habits.author.clone()],
        email: vec!["somebody@example.org".to_owned()],
        email_list: false,
        summary: habits.summary.clone(),
        description: habits.description.clone(),
        metadata: BTreeMap::from([("changelog_uri".to_owned(), format!("{page}/changes"))]),
        homepage: Some(page),
        licenses: vec!["MIT".to_owned()],
        dependencies: dependencies.to_vec(),
        required_ruby: Requirement::parse(if at > 1_600_000_000 { ">= 2.7" } else { ">= 0" })?,
        required_rubygems: Requirement::default(),
        requirements: Vec::new(),
        executables: Vec::new(),
        extensions: habits.platforms.len() > 1 && platform == "ruby",
        date: Some("2026-01-01".to_owned()),
        rubygems_version: Some("3.3.15".to_owned()),
        specification_version: 4,
        signed: false,
    })
}

fn entry(package: Package, published: Millis, state: State, hashes: &Hashes) -> Result<Entry> {
    let mut facts = serde_json::to_value(&package)?;
    facts[Facts::BRIEF] = dependencies::brief(&package).into();
    let live = Entry::live(package.name.clone(), package.full_name(), hashes.clone(), published);
    Ok(Entry { state, facts, ..live })
}

/// Gives the last entry the line of the whole gem: the MD5 is that of the `/info` that the server will render.
fn announce(entries: &mut [Entry]) -> Result<()> {
    let Some(last) = entries.last_mut() else { return Ok(()) };
    last.state = State::Live;
    let (mut lines, mut slugs) = (Vec::new(), Vec::new());
    for entry in entries.iter().filter(|entry| entry.state == State::Live) {
        let package: Package = serde_json::from_value(entry.facts.clone())?;
        let sha256 = entry.hashes.sha256.to_string();
        lines.push(info::line(&package, &sha256, entry.published.seconds(), FormatVersion::V2));
        slugs.push(entry.key[package.name.len() + 1..].to_owned());
    }
    let (md5, slugs) = (info::md5_hex(&info::render(&lines)), slugs.join(","));
    if let Some(last) = entries.last_mut() {
        last.line = Some(format!("{} {slugs} {md5}", last.unit));
    }
    Ok(())
}
