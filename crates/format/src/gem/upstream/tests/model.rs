//! Random histories of an upstream and of the looks at it: after each successful look the log lists the same as the
//! upstream, and a log only grows. `PROPTEST_CASES` sets the number of histories; the default is 256.

use super::super::{
    Begun, Kept, Look, Outcome, Refusal, Response, Said, Verified, Versions, append, difference, splice,
};
use super::body;
use crate::gem::info::md5_hex;
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const NAMES: u8 = 5;
const VERSIONS: u8 = 6;

/// The upstream: its file, and the previous ones.
#[derive(Debug, Default)]
struct Upstream {
    lines: Vec<String>,
    /// The number of lines of the base.
    base: usize,
    versions: BTreeMap<String, BTreeSet<String>>,
    changes: u32,
    files: Vec<Vec<u8>>,
}

impl Upstream {
    fn change(&mut self, [kind, name, version]: [u8; 3]) {
        let (name, version) = (format!("gem{}", name % NAMES), format!("{}.0", version % VERSIONS));
        self.changes += 1;
        let md5 = md5_hex(&self.changes.to_le_bytes());
        let offered = self.versions.entry(name.clone()).or_default();
        match kind % 12 {
            0..4 if offered.insert(version.clone()) => self.lines.push(format!("{name} {version} {md5}")),
            4 if offered.remove(&version) => self.lines.push(format!("{name} -{version} {md5}")),
            5 if offered.contains(&version) => self.lines.push(format!("{name} -{version},{version} {md5}")),
            // Committed later than others that were added after it.
            6 if offered.insert(version.clone()) => {
                let middle = usize::midpoint(self.base, self.lines.len());
                self.lines.insert(middle, format!("{name} {version} {md5}"));
            }
            // An MD5 is corrected in its place; a missing MD5 is added.
            7 => {
                if let Some(line) = self.lines.iter_mut().rev().find(|line| line.starts_with(&format!("{name} "))) {
                    *line = format!("{} {md5}", line.rsplit_once(' ').unwrap().0);
                }
            }
            8 if offered.insert(version.clone()) => self.lines.push(format!("{name} {version} ")),
            9 => {
                let live = self.versions.iter().filter(|(_, versions)| !versions.is_empty());
                let line = |(name, versions): (&String, &BTreeSet<String>)| {
                    let versions: Vec<&str> = versions.iter().map(String::as_str).collect();
                    format!("{name} {} {}", versions.join(","), md5_hex(format!("{name} {versions:?}").as_bytes()))
                };
                self.lines = live.map(line).collect();
                self.base = self.lines.len();
            }
            10 => self.lines.push(["", "  ", "repo:a 1 x", "<br>"][usize::from(version.as_bytes()[0] % 4)].to_owned()),
            _ => return,
        }
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        self.files.push(body(&lines));
    }

    /// Answers a look in one of the ways of real servers, correctly or not.
    fn answer(&self, kind: u8, range: Option<u64>, etag: Option<&str>) -> (u16, String, String, Vec<u8>) {
        // Sometimes from a stale cache.
        let behind = usize::from(kind >> 6).min(self.files.len() - 1);
        let file = &self.files[self.files.len() - 1 - behind];
        let now = md5_hex(file);
        let whole = || (200, String::new(), now.clone(), file.clone());
        let Some(from) = range else { return whole() };
        let (first, len) = (usize::try_from(from).unwrap(), file.len());
        if etag == Some(&now) {
            return (304, String::new(), now, Vec::new());
        }
        match kind % 16 {
            0 => whole(),
            1 => (503, String::new(), String::new(), Vec::new()),
            2 => (200, String::new(), String::new(), [file, &b"gem0 1"[..]].concat()),
            3 => (200, String::new(), now, b"---\n".to_vec()),
            4 => (200, String::new(), now, b"<html>".to_vec()),
            _ if first >= len => (416, String::new(), String::new(), Vec::new()),
            5 => (206, format!("bytes {}-{}/{len}", first.saturating_sub(1), len - 1), now, file[first..].to_vec()),
            6 => (206, format!("bytes {first}-{}/{len}", len - 1), "opaque".into(), file[first..].to_vec()),
            7 => (206, format!("bytes {first}-{}/{len}", len - 1), now, file[first..len - 1].to_vec()),
            _ => (206, format!("bytes {first}-{}/{len}", len - 1), now, file[first..].to_vec()),
        }
    }
}

/// A repository that follows the upstream.
#[derive(Debug)]
struct Follower {
    kept: Kept,
    file: Vec<u8>,
    held: bool,
    log: Versions,
    text: Vec<u8>,
}

impl Follower {
    /// One look. Returns whether it succeeded.
    fn look(&mut self, upstream: &Upstream, kind: u8) -> bool {
        let (range, before) = (self.kept.len().checked_sub(1), self.file.clone());
        let etag = self.kept.md5_hex();
        let mut seen = self.read(upstream.answer(kind, range, Some(&etag)));
        if let (Err(Refusal::Tail(tail)), Some(from)) = (&seen, self.kept.overlap())
            && tail.is_of_another_file()
        {
            seen = self.read(upstream.answer(kind, Some(from), None));
        }
        if matches!(seen, Err(Refusal::Tail(_))) {
            seen = self.read(upstream.answer(kind, None, None));
        }
        let Ok(outcome) = seen else { return false };
        let gained = match outcome {
            Outcome::Unchanged => return true,
            Outcome::Appended { from } => {
                let mut appended = Versions::appended();
                appended.push(Bytes::copy_from_slice(&self.file[usize::try_from(from).unwrap()..])).unwrap();
                if self.held { None } else { append(&self.log, &appended) }
            }
            Outcome::Spliced { from } => {
                let mut ends = [Versions::appended(), Versions::appended()];
                for (end, file) in ends.iter_mut().zip([&before, &self.file]) {
                    end.push(Bytes::copy_from_slice(&file[usize::try_from(from).unwrap()..])).unwrap();
                }
                if self.held { None } else { splice(&self.log, &ends[0], &ends[1], |_, _| false) }
            }
            Outcome::Replaced => None,
        };
        let mut file = Versions::new();
        file.push(self.file.clone().into()).unwrap();
        self.held = !file.held().is_empty();
        let gained = gained.unwrap_or_else(|| difference(&self.log, &file, |_, _| false));
        let touched: BTreeSet<&str> = gained.changes.iter().map(|change| change.name.as_str()).collect();
        let before: Vec<Option<Said>> = all().map(|name| self.log.said(&name)).collect();
        self.text.extend_from_slice(&gained.lines);
        self.log.push(gained.lines.clone().into()).unwrap();
        for (name, before) in all().zip(before) {
            let offered = |said: &Option<Said>| said.clone().map(|said| said.tokens).unwrap_or_default();
            let after = self.log.said(&name);
            assert!(before == after || touched.contains(name.as_str()), "{name} changed without a report");
            if let Some(change) = gained.changes.iter().find(|change| change.name == name) {
                let (before, after) = (offered(&before), offered(&after));
                assert!(change.new.iter().all(|new| !before.contains(new) && after.contains(new)));
                assert!(after.iter().all(|token| before.contains(token) || change.new.contains(token)));
                assert!(change.gone.iter().all(|gone| before.contains(gone) && !after.contains(gone)));
                assert_eq!(change.vanished, !before.is_empty() && after.is_empty());
            }
        }
        true
    }

    fn read(&mut self, (status, range, etag, body): (u16, String, String, Vec<u8>)) -> Result<Outcome, Refusal> {
        let etag = format!("\"{etag}\"");
        let response = Response { status, content_range: Some(&range), etag: Some(&etag), ..Response::default() };
        let Begun::Body(mut look) = Look::begin(Some(&self.kept), &response, false)? else {
            return Ok(Outcome::Unchanged);
        };
        let (is_whole, mut came) = (look.is_whole(), Vec::new());
        for piece in body.chunks(11) {
            came.extend_from_slice(look.add(piece)?);
        }
        let seen = look.end()?;
        let from = match seen.outcome {
            _ if is_whole => 0,
            Outcome::Spliced { from } => usize::try_from(from).unwrap(),
            _ => self.file.len(),
        };
        let file = [&self.file[..from], &came].concat();
        assert_eq!((seen.kept.md5_hex(), seen.kept.len()), (md5_hex(&file), file.len() as u64));
        assert_eq!(seen.verified, Verified::Md5);
        (self.kept, self.file) = (seen.kept, file);
        Ok(seen.outcome)
    }

    /// Compares the file, parsed naively, with the log.
    fn assert_same(&self) {
        let text = String::from_utf8(self.file.clone()).unwrap();
        let lines: Vec<Vec<&str>> = text.lines().skip(2).map(|line| line.split(' ').collect()).collect();
        for name in all() {
            let of: Vec<&[&str]> = lines.iter().map(Vec::as_slice).filter(|line| line[0] == name).collect();
            let complete = of.iter().rposition(|line| !line[2].is_empty()).map(|last| &of[..=last]);
            let said = self.log.said(&name);
            let Some(complete) = complete else {
                // It vanished, or its only lines are held back.
                assert!(!of.is_empty() || said.is_none_or(|said| said.tokens.is_empty()), "{name}");
                continue;
            };
            let mut tokens = BTreeSet::new();
            for version in complete.iter().flat_map(|line| line[1].split(',')) {
                match version.strip_prefix('-') {
                    Some(gone) => tokens.remove(gone),
                    None => tokens.insert(version),
                };
            }
            let said = said.unwrap_or_else(|| panic!("{name} is not in the log"));
            assert_eq!(said.md5, complete.last().unwrap()[2], "{name}");
            assert!(said.tokens.iter().map(String::as_str).collect::<BTreeSet<_>>() == tokens, "{name}");
            assert_eq!(said.tokens.len(), tokens.len());
        }
    }

    /// A client that reads the log as Bundler does: its state of each name. A version that is added twice would be
    /// listed twice.
    fn assert_clients(&self) {
        let mut known: BTreeMap<&str, (Vec<&str>, &str)> = BTreeMap::new();
        let text = std::str::from_utf8(&self.text).unwrap();
        for line in text.lines() {
            let [name, versions, md5] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line:?}") };
            assert!(!md5.is_empty() && !versions.is_empty(), "{line:?}");
            let gem = known.entry(name).or_default();
            gem.1 = md5;
            for version in versions.split(',') {
                match version.strip_prefix('-') {
                    Some(gone) => gem.0.retain(|held| *held != gone),
                    None => gem.0.push(version),
                }
            }
        }
        for name in all() {
            let known = known.get(name.as_str());
            let mut said = self.log.said(&name);
            said.iter_mut().for_each(|said| said.tokens.sort());
            let sorted = |(tokens, md5): &(Vec<&str>, &str)| {
                let mut tokens: Vec<String> = tokens.iter().map(|token| (*token).to_owned()).collect();
                tokens.sort();
                Said { tokens, md5: (*md5).to_owned() }
            };
            assert_eq!(known.map(sorted), said);
        }
    }
}

fn all() -> impl Iterator<Item = String> {
    (0..NAMES).map(|name| format!("gem{name}"))
}

#[derive(Debug, Clone)]
enum Step {
    Change([u8; 3]),
    Look(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![3 => any::<[u8; 3]>().prop_map(Step::Change), 1 => any::<u8>().prop_map(Step::Look)];
    proptest::collection::vec(step, 1..60)
}

#[test]
fn a_log_says_what_its_upstream_says_after_each_look_and_is_only_ever_continued() {
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::default() };
    proptest!(config, |(steps in steps())| {
        let mut upstream = Upstream { files: vec![body(&[])], ..Upstream::default() };
        let log = Versions::appended();
        let mut follower = Follower { kept: Kept::with_overlap(40, 160), file: Vec::new(), held: false, log, text: Vec::new() };
        for step in steps {
            match step {
                Step::Change(change) => upstream.change(change),
                Step::Look(kind) if follower.look(&upstream, kind) => {
                    follower.assert_same();
                    follower.assert_clients();
                    prop_assert_eq!(follower.log.text().pieces().concat(), follower.text.clone());
                }
                Step::Look(_) => {}
            }
        }
    });
}
