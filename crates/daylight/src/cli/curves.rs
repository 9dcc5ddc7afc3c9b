//! `daylight curves`: what each cache of a running server would answer with other sizes.

use super::api::{Api, decode};
use super::context::Context;
use super::failure::Failure;
use super::table::{Head, write_under};
use insight::CurveSize;
use serde::Deserialize;
use std::io::{self, Write};

/// Show what each cache of a running server would answer with other sizes
///
/// Small copies of the caches, with the same rules, see a part of the requests of the last hour, so no cache is touched. HITS is the share of
/// the lookups that the cache answered, HALF and DOUBLE the share that it would have answered with half and with twice the size. With a CACHE
/// each size is a row; SAVES is what clients would wait less in an hour than now, in seconds. `facts` has the number of entries that there would
/// be at other levels, with the same answers.
#[derive(Debug, clap::Args)]
pub(super) struct Curves {
    /// The name of a cache, such as pages: all its sizes
    cache: Option<String>,
    /// What it would answer with this size: a number, or one with KiB, MiB, GiB or TiB
    #[arg(long, value_name = "SIZE", requires = "cache", value_parser = size)]
    with: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Answer {
    curves: Vec<Curve>,
}

#[derive(Debug, Deserialize)]
struct Curve {
    name: String,
    setting: Option<String>,
    unit: String,
    now: Now,
    sizes: Vec<CurveSize>,
    lookups: u64,
    without: Option<String>,
    levels: Option<Levels>,
}

/// The facts of a day at several levels.
#[derive(Debug, Deserialize)]
struct Levels {
    levels: Vec<Level>,
    fewest: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Level {
    level: String,
    entries: u64,
}

#[derive(Debug, Deserialize)]
struct Now {
    size: u64,
    hit_share: f64,
}

impl Curves {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let api = Api::new(context)?;
        let answer = api.get("/api/v1/curves")?;
        let Some(name) = &self.cache else {
            if api.print_json(&answer, context)? {
                return Ok(());
            }
            let rows = decode::<Answer>(answer)?.curves.iter().map(row).collect();
            return Ok(write_under(context.out, &head(&["CACHE", "SETTING"], &ALL), rows)?);
        };
        let found = answer["curves"].as_array().and_then(|all| all.iter().find(|curve| curve["name"] == **name));
        let Some(found) = found.cloned() else {
            return Err(Failure::usage(format!("there is no cache `{name}`"), "`daylight curves` lists them").into());
        };
        if self.with.is_none() && api.print_json(&found, context)? {
            return Ok(());
        }
        let curve: Curve = decode(found)?;
        if let Some(why) = &curve.without {
            writeln!(context.out, "the cache `{name}` has no curve: {why}")?;
            return Ok(curve.levels.iter().try_for_each(|levels| levels.write(context.out))?);
        }
        let sizes = match self.with {
            None => curve.sizes.clone(),
            Some(size) => vec![curve.at(size).ok_or_else(|| curve.beyond())?],
        };
        let rows = sizes.iter().map(|at| curve.cells(at)).collect();
        Ok(write_under(context.out, &head(&[], &["SIZE", "HITS", "SAVES"]), rows)?)
    }
}

impl Levels {
    /// The level with the fewest entries is marked.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mark = |level: &str| if self.fewest.as_deref() == Some(level) { "fewest" } else { "" };
        let row = |of: &Level| vec![of.level.clone(), of.entries.to_string(), mark(&of.level).to_owned()];
        let head = [("LEVEL", false), ("ENTRIES", true), ("", false)];
        let head = head.map(|(name, right)| Head { name: name.to_owned(), right });
        write_under(out, &head, self.levels.iter().map(row).collect())
    }
}

const ALL: [&str; 5] = ["SIZE", "LOOKUPS", "HITS", "HALF", "DOUBLE"];

fn head(left: &[&str], right: &[&str]) -> Vec<Head> {
    let of = |name: &&str, right| Head { name: (*name).to_owned(), right };
    left.iter().map(|name| of(name, false)).chain(right.iter().map(|name| of(name, true))).collect()
}

fn row(curve: &Curve) -> Vec<String> {
    let other = |size: u64| curve.at(size).map_or_else(|| "-".to_owned(), |at| percent(at.hit_share));
    let hits = if curve.lookups > 0 { percent(curve.now.hit_share) } else { "-".to_owned() };
    let setting = curve.setting.clone().unwrap_or_else(|| "-".to_owned());
    let size = curve.amount(curve.now.size);
    let (half, double) = (other(curve.now.size / 2), other(curve.now.size.saturating_mul(2)));
    vec![curve.name.clone(), setting, size, curve.lookups.to_string(), hits, half, double]
}

impl Curve {
    /// The cache with this size, between two sizes of the curve.
    fn at(&self, size: u64) -> Option<CurveSize> {
        CurveSize::between(&self.sizes, size)
    }

    fn beyond(&self) -> Failure {
        let ends = self.sizes.first().zip(self.sizes.last());
        let ends = ends.map(|(low, high)| format!("{} to {}", self.amount(low.size), self.amount(high.size)));
        Failure::usage(
            format!("the curve of `{}` says nothing about this size", self.name),
            &format!("it has sizes from {}", ends.unwrap_or_default()),
        )
    }

    fn cells(&self, at: &CurveSize) -> Vec<String> {
        vec![self.amount(at.size), percent(at.hit_share), format!("{:.1} s/h", at.saved_s_per_hour)]
    }

    fn amount(&self, size: u64) -> String {
        let units = [(1_u64 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        match units.into_iter().find(|(unit, _)| self.unit == "bytes" && size >= *unit) {
            Some((unit, name)) => format!("{:.1} {name}", size as f64 / unit as f64),
            None => format!("{size} {}", self.unit),
        }
    }
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// A number with a unit: `1GiB`, `512 MiB`, `1000`.
fn size(text: &str) -> Result<u64, &'static str> {
    const EXPECTED: &str = "expected a number, or one with KiB, MiB, GiB or TiB";
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    let power = match unit.trim() {
        "" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return Err(EXPECTED),
    };
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << power)).ok_or(EXPECTED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_numbers_with_a_unit() {
        assert_eq!([size("1GiB"), size("512 MiB"), size("1000")], [Ok(1 << 30), Ok(512 << 20), Ok(1000)]);
        assert!(["", "GiB", "1GB", "-1", "99999999TiB"].iter().all(|text| size(text).is_err()));
    }
}
