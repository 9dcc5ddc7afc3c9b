//! `/versions` of the compact index: a header, then one line per change, in order.

use super::facts::slug;
use super::info::seconds;
use std::collections::BTreeMap;

/// A change of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// It was published.
    Push,
    /// It was withdrawn.
    Yank,
}

/// The header before the first line, with the time at which the file was started, in seconds since the epoch. Ends in a
/// newline.
pub fn header(created_at: i64) -> String {
    format!("created_at: {}\n---\n", seconds(created_at))
}

/// The line that a change appends, without a newline. `md5` is the hexadecimal digest of `/info/NAME` after the
/// change.
pub fn line(name: &str, op: Op, number: &str, platform: &str, md5: &str) -> String {
    let sign = if op == Op::Yank { "-" } else { "" };
    format!("{name} {sign}{} {md5}", slug(number, platform))
}

/// The line that a change appends if it changes the line of a version in `/info/NAME`. Clients would list a version
/// twice that is added twice, so the line removes it and adds it again.
pub fn replacing_line(name: &str, number: &str, platform: &str, md5: &str) -> String {
    let version = slug(number, platform);
    format!("{name} -{version},{version} {md5}")
}

/// The line of a gem with all its versions, for a rewritten file. `info` has the lines of its `/info`, and `md5` is the
/// digest of that file.
pub fn summary<T: AsRef<str>>(name: &str, info: &[T], md5: &str) -> String {
    let versions: Vec<&str> = info.iter().filter_map(|line| line.as_ref().split(' ').next()).collect();
    format!("{name} {} {md5}", versions.join(","))
}

/// The removed version in the line of a gem without versions. It removes nothing if the gem has no version `0`. The
/// line must have a version, because clients split the line at blanks and would take the MD5 for a version.
pub const NOTHING: &str = "0";

/// The line of a gem without versions; `md5` is the digest of its `/info`. Bundler keeps an `/info` until `/versions`
/// has another MD5 for it. So if the gem were left out, clients that know its versions would keep them.
pub fn tombstone(name: &str, md5: &str) -> String {
    format!("{name} -{NOTHING} {md5}")
}

/// The file: its header and lines.
pub fn render<T: AsRef<str>>(created_at: i64, lines: impl IntoIterator<Item = T>) -> Vec<u8> {
    append(header(created_at).into_bytes(), lines)
}

/// The text of lines that are appended to the file.
pub fn lines<T: AsRef<str>>(lines: impl IntoIterator<Item = T>) -> Vec<u8> {
    append(Vec::new(), lines)
}

fn append<T: AsRef<str>>(body: Vec<u8>, lines: impl IntoIterator<Item = T>) -> Vec<u8> {
    lines.into_iter().fold(body, |mut body, line| {
        body.extend_from_slice(line.as_ref().as_bytes());
        body.push(b'\n');
        body
    })
}

/// The gem and the change in a line.
pub fn subject(line: &str) -> Option<(&str, Op)> {
    let (name, versions, _) = split(line)?;
    let last = versions.rsplit(',').next()?;
    Some((name, if last.starts_with('-') { Op::Yank } else { Op::Push }))
}

/// The name, versions and MD5 of a line.
fn split(line: &str) -> Option<(&str, &str, &str)> {
    let (name, rest) = line.split_once(' ')?;
    let (versions, md5) = rest.split_once(' ')?;
    Some((name, versions, md5))
}

/// Merges lines into one line for each gem that has versions, in byte order, with the versions in order of their
/// changes and the last MD5. A rewritten file has these lines.
#[derive(Debug, Default)]
pub struct Sum(BTreeMap<String, Gem>);

#[derive(Debug, Default)]
struct Gem {
    /// Each with a comma before it.
    versions: String,
    md5: String,
}

impl Sum {
    /// Adds a line. An invalid line is ignored, as clients ignore it.
    pub fn add(&mut self, line: &str) {
        let Some((name, versions, md5)) = split(line) else { return };
        if !self.0.contains_key(name) {
            self.0.insert(name.to_owned(), Gem::default());
        }
        let Some(gem) = self.0.get_mut(name) else { return };
        md5.clone_into(&mut gem.md5);
        for version in versions.split(',') {
            match version.strip_prefix('-') {
                // A version that is listed again with another MD5 keeps its position.
                None if gem.holds(version) => {}
                None => gem.versions.extend([",", version]),
                Some(gone) => gem.remove(gone),
            }
        }
    }

    /// The lines.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let offered = self.0.iter().filter(|(_, gem)| !gem.versions.is_empty());
        offered.map(|(name, gem)| format!("{name} {} {}", &gem.versions[1..], gem.md5))
    }
}

impl Gem {
    fn holds(&self, version: &str) -> bool {
        self.versions.split(',').skip(1).any(|held| held == version)
    }

    fn remove(&mut self, version: &str) {
        let mut from = 0;
        for held in self.versions.split(',').skip(1) {
            let to = from + 1 + held.len();
            if held == version {
                self.versions.replace_range(from..to, "");
                return;
            }
            from = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "0123456789abcdef0123456789abcdef";

    #[test]
    fn a_change_is_a_line() {
        assert_eq!(line("rack", Op::Push, "3.1.2", "ruby", MD5), format!("rack 3.1.2 {MD5}"));
        assert_eq!(line("rack", Op::Yank, "3.1.2", "java", MD5), format!("rack -3.1.2-java {MD5}"));
        assert_eq!(tombstone("rack", MD5), format!("rack -0 {MD5}"));
        let replacing = replacing_line("rack", "3.1.2", "java", MD5);
        assert_eq!(replacing, format!("rack -3.1.2-java,3.1.2-java {MD5}"));
        assert_eq!(subject(&replacing), Some(("rack", Op::Push)));
    }

    #[test]
    fn the_file_begins_with_the_moment_it_was_begun() {
        assert_eq!(header(1_780_017_037), "created_at: 2026-05-29T01:10:37Z\n---\n");
        assert_eq!(render(0, ["a 1 x", "b 2 y"]), b"created_at: 1970-01-01T00:00:00Z\n---\na 1 x\nb 2 y\n");
        assert_eq!(lines(["a 1 x", "b 2 y"]), b"a 1 x\nb 2 y\n");
    }

    #[test]
    fn what_lines_come_to_is_a_line_for_each_gem_with_what_it_still_offers() {
        let mut sum = Sum::default();
        let happened =
            ["b 1 m1", "a 1.0 m2", "b 1.1-java m3", "b 1.1 m4", "c 1 m5", "b -1.1 m6", "c -1 m7", "B 1,2,-1 m8", ""];
        happened.iter().for_each(|line| sum.add(line));
        assert_eq!(sum.lines().collect::<Vec<_>>(), ["B 2 m8", "a 1.0 m2", "b 1,1.1-java m6"]);
        sum.add("b 1 m9");
        assert_eq!(sum.lines().last().unwrap(), "b 1,1.1-java m9", "a version that is listed again");
        // Merging the result again changes nothing.
        let mut again = Sum::default();
        sum.lines().for_each(|line| again.add(&line));
        assert!(again.lines().eq(sum.lines()));
    }

    #[test]
    fn a_line_tells_whom_it_is_about_and_what_happened() {
        assert_eq!(subject("rack 3.1.2 m"), Some(("rack", Op::Push)));
        assert_eq!(subject("rack -3.1.2-java m"), Some(("rack", Op::Yank)));
        assert_eq!(subject("rack"), None);
    }
}
