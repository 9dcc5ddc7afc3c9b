//! Reads a compact index that another server renders: the versions in `/versions` with the MD5 of each `/info`, and the
//! digests in an `/info`.

use super::name::{check_platform, plain};
use super::versions::NOTHING;
use std::collections::{BTreeMap, BTreeSet};

/// The content of `/versions`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// By the gem's name.
    pub gems: BTreeMap<String, Listed>,
}

/// The entry of one gem in `/versions`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listed {
    /// `NUMBER[-PLATFORM]` of each available version.
    pub offered: BTreeSet<String>,
    /// The MD5 of its `/info` in hexadecimal, from the last line of the gem.
    pub md5: String,
}

/// An invalid line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}, line {line}: {why}")]
pub struct Malformed {
    /// `/versions` or `/info`.
    pub file: &'static str,
    /// Its number, from 1.
    pub line: usize,
    /// The problem.
    pub why: &'static str,
}

impl Listing {
    /// Reads the file. The last line of a gem wins; `-NUMBER` removes a version.
    pub fn read(text: &str) -> Result<Self, Malformed> {
        let wrong = |line, why| Malformed { file: "/versions", line, why };
        let mut lines = text.split_inclusive('\n').enumerate().map(|(at, line)| (at + 1, line));
        if !lines.any(|(_, line)| line == "---\n") {
            return Err(wrong(1, "no line `---` ends its header"));
        }
        let mut gems: BTreeMap<String, Listed> = BTreeMap::new();
        for (at, line) in lines {
            let line = line.strip_suffix('\n').ok_or_else(|| wrong(at, "it ends in the middle of a line"))?;
            let [name, changes, md5] = line.split(' ').collect::<Vec<_>>()[..] else {
                return Err(wrong(at, "it is not a name, versions and a digest"));
            };
            if !plain(name) || name.starts_with('.') {
                return Err(wrong(at, "the name is not a valid gem name"));
            }
            if md5.len() != 32 || !md5.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                return Err(wrong(at, "the digest is not an MD5"));
            }
            if !gems.contains_key(name) {
                gems.insert(name.to_owned(), Listed::default());
            }
            let Some(gem) = gems.get_mut(name) else { continue };
            md5.clone_into(&mut gem.md5);
            for change in changes.split(',') {
                let (gone, version) = change.strip_prefix('-').map_or((false, change), |gone| (true, gone));
                if check_platform(version).is_err() {
                    return Err(wrong(at, "a version is not valid"));
                }
                let changed = if gone { gem.offered.remove(version) } else { gem.offered.insert(version.to_owned()) };
                match (changed, gone) {
                    (true, _) => {}
                    // The gem has no version left.
                    (false, true) if version == NOTHING => {}
                    (false, true) => return Err(wrong(at, "it removes a version that was not listed")),
                    (false, false) => return Err(wrong(at, "it adds a version that was already listed")),
                }
            }
        }
        Ok(Self { gems })
    }
}

/// The versions of an `/info`, each with its SHA-256 in hexadecimal.
pub fn checksums(info: &str) -> Result<BTreeMap<String, String>, Malformed> {
    let wrong = |line, why| Malformed { file: "/info", line, why };
    let body = info.strip_prefix("---\n").ok_or_else(|| wrong(1, "it does not begin with `---`"))?;
    let mut all = BTreeMap::new();
    for (at, line) in body.split_inclusive('\n').enumerate().map(|(at, line)| (at + 2, line)) {
        let line = line.strip_suffix('\n').ok_or_else(|| wrong(at, "it ends in the middle of a line"))?;
        let (version, rest) = line.split_once(' ').ok_or_else(|| wrong(at, "it has no space after a version"))?;
        let (_, facts) = rest.split_once('|').ok_or_else(|| wrong(at, "it has no `|`"))?;
        let sum = facts.split(',').find_map(|fact| fact.strip_prefix("checksum:"));
        let sum = sum.filter(|sum| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let sum = sum.ok_or_else(|| wrong(at, "it has no checksum of 64 digits"))?;
        if check_platform(version).is_err() {
            return Err(wrong(at, "the version is not valid"));
        }
        if all.insert(version.to_owned(), sum.to_ascii_lowercase()).is_some() {
            return Err(wrong(at, "the version is listed twice"));
        }
    }
    Ok(all)
}

/// The publication times of the versions of an `/info`, in seconds since the epoch. The older form has none.
pub fn moments(info: &str) -> BTreeMap<String, i64> {
    let moment = |line: &str| {
        let (version, rest) = line.split_once(' ')?;
        let (_, facts) = rest.split_once('|')?;
        let text = facts.split(',').find_map(|fact| fact.strip_prefix("created_at:"))?;
        Some((version.to_owned(), super::info::moment(text)?))
    };
    info.lines().filter_map(moment).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "0123456789abcdef0123456789abcdef";

    fn read(lines: &str) -> Result<Listing, Malformed> {
        Listing::read(&format!("created_at: 2026-01-01T00:00:00Z\n---\n{}", lines.replace("MD5", MD5)))
    }

    #[test]
    fn the_last_line_of_a_name_wins_and_a_dash_takes_away() {
        let newest = MD5.replace('0', "f");
        let listing = read(&format!("a 1.0,1.1-java MD5\nb 1 MD5\na -1.0 {newest}\nb -1 MD5\n")).unwrap();
        assert_eq!(listing.gems["a"], Listed { offered: ["1.1-java".to_owned()].into(), md5: newest });
        assert!(listing.gems["b"].offered.is_empty());
    }

    #[test]
    fn what_is_no_line_is_refused_with_its_number() {
        for (lines, why) in [
            ("a 1.0 MD5", "/versions, line 3: it ends in the middle of a line"),
            ("a 1.0\n", "/versions, line 3: it is not a name, versions and a digest"),
            ("../a 1.0 MD5\n", "/versions, line 3: the name is not a valid gem name"),
            ("a ../1 MD5\n", "/versions, line 3: a version is not valid"),
            ("a 1.0 1234\n", "/versions, line 3: the digest is not an MD5"),
            ("a 1.0 MD5\na 1.0 MD5\n", "/versions, line 4: it adds a version that was already listed"),
            ("a -1.0 MD5\n", "/versions, line 3: it removes a version that was not listed"),
        ] {
            assert_eq!(read(lines).unwrap_err().to_string(), why);
        }
        assert!(Listing::read("").is_err() && Listing::read("a 1.0 b\n").is_err());
    }

    #[test]
    fn an_info_promises_the_bytes_of_each_version() {
        let sum = "a".repeat(64);
        let info = format!("---\n1.0 b:>= 1&< 2,c:>= 0|checksum:{sum},ruby:>= 2\n1.0-java |checksum:{sum}\n");
        let all = checksums(&info).unwrap();
        assert_eq!(all.keys().collect::<Vec<_>>(), ["1.0", "1.0-java"]);
        assert!(checksums("---\n").unwrap().is_empty());
        for wrong in ["", "---\n1.0", "---\n1.0 |checksum:a\n", "---\n1.0 checksum\n", "---\n1.0\n"] {
            assert!(checksums(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn moments_of_an_info_are_those_that_it_tells() {
        let info = "---\n1.0 |checksum:ab,created_at:2024-05-01T12:00:00Z\n1.1-java oil:>= 1|checksum:ab\n1.2 |created_at:now\n";
        assert_eq!(moments(info), BTreeMap::from([("1.0".to_owned(), 1_714_564_800)]));
    }
}
