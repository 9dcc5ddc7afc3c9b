//! The entries of one gem in the three files of the older index.

#[cfg(test)]
mod tests;

use crate::error::{Error, Result};
use crate::gem::indexes::specs::GemParts;
use crate::index::rope::chunks::ChunkPart;
use crate::policy::rules::View;
use crate::visible;
use crate::visible::Row;
use format::gem::{Identity, Version, dependencies, specs};
use store::{Facts, Outline};

/// The number of hexadecimal digits in a token that identifies a package by its content and has no platform (RubyGems
/// 4.1).
const CONTENT_DIGITS: std::ops::RangeInclusive<usize> = 8..=64;

/// The entries of one gem in the three files, newest first. The first entry defines all symbols again, so it can stand
/// anywhere; the others link to the symbols of the first entry in the file.
pub(crate) fn parts(name: &str, rows: &[Outline], view: View<'_>) -> Result<GemParts> {
    parts_of(name, rows, view, |row| identity(name, &row.facts))
}

/// The same from rows of any kind. `identity` returns the version of a row.
pub(crate) fn parts_of<R: Row>(
    name: &str,
    rows: &[R],
    view: View<'_>,
    identity: impl Fn(&R) -> Result<Identity>,
) -> Result<GemParts> {
    let seen = visible(rows, view).map(|seen| identity(seen.entry()));
    Ok(parts_of_versions(name, seen.collect::<Result<_>>()?))
}

fn parts_of_versions(name: &str, mut versions: Vec<Identity>) -> GemParts {
    versions.sort_by(|a, b| (&b.number, &b.platform).cmp(&(&a.number, &a.platform)));
    let latest = specs::latest(versions.iter().map(|version| (&version.number, version.platform.as_str())));
    let file = |these: Vec<&Identity>| {
        let mut part = ChunkPart::default();
        for version in these {
            let first = part.count == 0;
            specs::tuple(&mut part.bytes, name, version.number.as_str(), &version.platform, first);
            part.count += 1;
        }
        part
    };
    let (young, released) = versions.iter().partition(|version| version.number.prerelease());
    [file(released), file(latest.into_iter().map(|at| &versions[at]).collect()), file(young)]
}

/// The same from versions as `/versions` lists them. Versions that no client of the older index can read are left out.
pub(crate) fn parts_of_tokens(name: &str, tokens: &[String]) -> GemParts {
    let identity = |token: &String| {
        let (number, platform) = token.split_once('-').unwrap_or((token, "ruby"));
        let is_content =
            CONTENT_DIGITS.contains(&platform.len()) && platform.bytes().all(|byte| byte.is_ascii_hexdigit());
        let number = Version::parse(number).ok().filter(|_| !is_content)?;
        Some(Identity { number, platform: platform.to_owned() })
    };
    parts_of_versions(name, tokens.iter().filter_map(identity).collect())
}

/// Entries of an earlier program have no short form of these facts, so all facts are parsed.
fn identity(name: &str, facts: &Facts) -> Result<Identity> {
    match facts {
        Facts::Brief(brief) => Ok(dependencies::identity(brief)?),
        Facts::Whole(facts) => {
            let unreadable = |source| Error::Unreadable { key: name.to_owned(), source };
            serde_json::from_str(facts.get()).map_err(unreadable)
        }
    }
}
