//! A generated index with the size of the public registry's: the same seed gives the same gems. It is written by the store's
//! own code into a data folder that `daylight serve --data` opens.

mod fill;
mod gem;
mod names;
mod random;

use crate::process::{TOKEN, beside};
use anyhow::{Context, Result, ensure};
pub(crate) use fill::REPOSITORY;
pub(crate) use names::WORDS;
pub(crate) use random::Random;
use std::path::{Path, PathBuf};

/// The default number of gems, as many as the public registry had in 2026; with their versions they make a `/versions` of
/// about 19 MB.
pub(crate) const GEMS: usize = 192_000;
/// The default seed.
pub(crate) const SEED: u64 = 1;

/// A long ending of names.
const TAIL: &str = "-and-all-that-belongs-to-it-in-a-name-which-goes-on-and-on";

/// Names with their popularity.
pub(crate) struct Corpus {
    seed: u64,
    /// In byte order.
    names: Vec<String>,
    /// Indexes into `names`, the most popular first.
    popular: Vec<usize>,
    /// The index of each name of `names` in `popular`.
    rank: Vec<usize>,
    /// For each name, the sum of its weight and those of more popular names.
    weights: Vec<f64>,
    /// Whether each gem has only one version.
    single: bool,
}

impl Corpus {
    /// This many gems from this seed.
    pub(crate) fn new(gems: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let names = names::make(gems, &mut random);
        Self::of(names, random, seed)
    }

    /// This many gems with one version each, with names so long that their lines are as long as those of gems with many
    /// versions: an index of that size from few rows.
    pub(crate) fn single(gems: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let mut names = names::make(gems, &mut random);
        names.iter_mut().for_each(|name| name.push_str(&TAIL.repeat(3)));
        names.sort_unstable();
        Self { single: true, ..Self::of(names, random, seed) }
    }

    fn of(names: Vec<String>, mut random: Random, seed: u64) -> Self {
        let gems = names.len();
        let mut popular: Vec<usize> = (0..gems).collect();
        for last in (1..gems).rev() {
            popular.swap(last, random.below(last + 1));
        }
        let mut rank = vec![0; gems];
        popular.iter().enumerate().for_each(|(place, name)| rank[*name] = place);
        // Zipf's law: the second has half the weight of the first, the third a third.
        let weights = (1..=gems).scan(0.0, |sum, place| {
            *sum += 1.0 / place as f64;
            Some(*sum)
        });
        Self { seed, rank, weights: weights.collect(), names, popular, single: false }
    }

    /// A name with the probability of its popularity.
    pub(crate) fn popular(&self, random: &mut Random) -> &str {
        let at = random.unit() * self.weights.last().copied().unwrap_or_default();
        let place = self.weights.partition_point(|sum| *sum < at).min(self.popular.len() - 1);
        &self.names[self.popular[place]]
    }

    /// The name at this position by popularity. The first names also have the most versions.
    pub(crate) fn by_popularity(&self, place: usize) -> &str {
        &self.names[self.popular[place]]
    }
}

/// A data folder with this many gems, kept beside the programs for the next run: `corpora/GEMS`.
pub(crate) fn made(gems: usize) -> Result<PathBuf> {
    kept(&gems.to_string(), |folder| write(folder, gems))
}

/// A data folder that is kept beside the programs for the next run: `corpora/NAME`. `make` makes it if there is none.
pub(crate) fn kept(name: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
    let folder = beside("corpora")?.join(name);
    if !folder.exists() {
        println!("making {} once", folder.display());
        // It gets its final name when it is complete.
        let arriving = folder.with_extension("arriving");
        std::fs::create_dir_all(beside("corpora")?)?;
        if arriving.exists() {
            std::fs::remove_dir_all(&arriving)?;
        }
        make(&arriving)?;
        std::fs::rename(&arriving, &folder)?;
    }
    Ok(folder)
}

/// Writes this many gems into a new data folder.
pub(crate) fn write(folder: &Path, gems: usize) -> Result<()> {
    fill::folder(folder, &Corpus::new(gems, SEED)).map(drop)
}

/// A `/versions` with this many gems whose names start with `prefix`, without their packages: the MD5s belong to no file.
pub(crate) fn listed(gems: usize, seed: u64, prefix: &str) -> String {
    let corpus = Corpus::new(gems, seed);
    let lines: String = (0..gems).map(|place| format!("{prefix}{}\n", gem::line(&corpus, place))).collect();
    format!("created_at: 2026-10-01T00:00:00Z\n---\n{lines}")
}

/// Writes this many gems with one version each into a new data folder.
pub(crate) fn single(folder: &Path, gems: usize) -> Result<usize> {
    fill::folder(folder, &Corpus::single(gems, SEED))
}

/// `corpus DIR [GEMS [SEED]]`.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let folder = Path::new(arguments.first().context("corpus DIR [GEMS [SEED]]: the folder is missing")?);
    let number = |at: usize, default: u64| match arguments.get(at) {
        Some(text) => text.parse::<u64>().with_context(|| format!("`{text}` is not a number")),
        None => Ok(default),
    };
    let gems = usize::try_from(number(1, GEMS as u64)?)?;
    ensure!((1..=1_000_000).contains(&gems), "from 1 to 1000000 gems can be generated, not {gems}");
    let corpus = Corpus::new(gems, number(2, SEED)?);
    let versions = fill::folder(folder, &corpus)?;
    println!("{gems} gems with {versions} versions in `{}`", folder.display());
    println!("serve it:    daylight serve --data {}", folder.display());
    println!("admin token: {TOKEN}");
    println!(
        "most popular: {}",
        (0..gems.min(3)).map(|place| corpus.by_popularity(place)).collect::<Vec<_>>().join(", ")
    );
    Ok(())
}
