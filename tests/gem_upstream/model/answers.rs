//! The conditions for each answer, in any state of the upstream.

use super::bundler::{Kept, lines, sums, version};
use super::marshal;
use super::pool::{NAMES, TOKENS, full_name, name_of};
use super::steps::Ask;
use super::{HOUR, Trial};
use crate::world::Answer;
use flate2::read::ZlibDecoder;
use format::gem::info::md5_hex;
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::Read as _;

/// A look may end between two requests. Then both are repeated, up to this number of times.
pub(super) const TRIES: usize = 30;
const SPECS: [&str; 3] = ["specs.4.8.gz", "prerelease_specs.4.8.gz", "latest_specs.4.8.gz"];

/// The versions in a list.
pub(super) type Tokens = BTreeSet<(usize, String)>;

impl Trial<'_> {
    pub(super) fn ask(&mut self, ask: Ask) {
        match ask {
            Ask::Names => drop(self.names()),
            Ask::Specs(which) => drop(self.specs(which)),
            Ask::Needs(name) => drop(self.needs(name)),
            Ask::NeedsInMarshal(name) => {
                let answer = self.get(&format!("api/v1/dependencies?gems={}", NAMES[name]), &[]);
                self.is_success(&answer, Some(name));
            }
            Ask::Versions(name) => drop(self.versions_json(name)),
            Ask::OfGem(name) => {
                let answer = self.get(&format!("api/v1/gems/{}.json", NAMES[name]), &[]);
                if answer.status != 404 && self.is_success(&answer, Some(name)) {
                    self.is_seen(name, &token(&answer.json(), "version"));
                }
            }
            Ask::Info(name) => drop(self.info(name, None)),
            Ask::Gem(name, token) => drop(self.gem(name, token)),
            Ask::Gemspec(name, token) => self.gemspec(name, token),
            Ask::Unknown(number) => {
                for path in [format!("info/secret-{number}"), format!("gems/secret-{number}-1.0.gem")] {
                    let answer = self.get(&path, &[]);
                    assert!(answer.status == 404 || self.may_fail(&answer, None), "{path}: {}", told(&answer));
                }
            }
            Ask::Prefix(at) => self.prefix(at),
        }
    }

    /// Whether an answer about all gems, or about one, succeeded. Otherwise it must be an allowed failure.
    #[track_caller]
    fn is_success(&self, answer: &Answer, name: Option<usize>) -> bool {
        assert!(answer.status == 200 || self.may_fail(answer, name), "{name:?}: {}", told(answer));
        answer.status == 200
    }

    /// Whether a failure is allowed: the upstream fails or failed recently, and nothing is cached.
    fn may_fail(&self, answer: &Answer, name: Option<usize>) -> bool {
        let is_kept = name.map_or(self.seen.synced, |name| self.seen.kept[name]);
        let since = if self.seen.synced { self.trouble } else { self.long_trouble };
        (500..=504).contains(&answer.status) && answer.status != 501 && !is_kept && self.now <= since
    }

    /// No policy hides this version, and the upstream had it.
    #[track_caller]
    pub(super) fn is_seen(&self, name: usize, token: &str) {
        let at = TOKENS.iter().position(|one| *one == token).unwrap_or_else(|| panic!("nobody has {token:?}"));
        let pushed = self.truth.pushed.get(&(name, at)).unwrap_or_else(|| panic!("nobody pushed {name} {token}"));
        let later = self.seen.first.is_some_and(|first| *pushed > first).then_some(*pushed);
        let hidden = self.rules.hide(name, token, later, self.now);
        assert!(!hidden, "{} {token} is hidden by {:?}", NAMES[name], self.rules);
    }

    /// `/versions`, requested with the cached file; `None`: it is unavailable.
    #[track_caller]
    pub(super) fn versions(&mut self, kept: Option<&Kept>) -> Option<Kept> {
        let conditions = Kept::conditions(kept);
        let conditions: Vec<(&str, &str)> = conditions.iter().map(|(name, value)| (*name, &**value)).collect();
        let answer = self.get("versions", &conditions);
        if !matches!(answer.status, 206 | 304) && !self.is_success(&answer, None) {
            return None;
        }
        let after = Kept::after(kept, &answer);
        for (name, sum) in sums(after.text()) {
            let name = name_of(&name);
            sum.tokens.iter().for_each(|token| self.is_seen(name, token));
            self.seen.listed.insert(name);
        }
        if !self.rules.touched {
            let begins = after.bytes.starts_with(&self.seen.log);
            let before = String::from_utf8_lossy(&self.seen.log);
            assert!(begins, "the log was\n{before}\nand is\n{}", after.text());
            self.seen.log.clone_from(&after.bytes);
        }
        self.seen.synced = true;
        self.seen.first.get_or_insert(self.now);
        Some(after)
    }

    /// An earlier answer is a prefix of this one, or this one is sent as a whole.
    fn prefix(&mut self, at: usize) {
        let Some(now) = self.versions(None) else { return };
        let ends: Vec<usize> =
            now.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        let end = ends[1 + at % (ends.len() - 1)] + 1;
        let bytes = now.bytes[..end].to_vec();
        let etag = format!("\"{}\"", md5_hex(&bytes));
        self.versions(Some(&Kept { bytes, etag }));
    }

    /// `/info` of a gem, requested with the cached file; `None`: it is unavailable, or there is none.
    #[track_caller]
    pub(super) fn info(&mut self, name: usize, kept: Option<&Kept>) -> Option<Kept> {
        let conditions = Kept::conditions(kept);
        let conditions: Vec<(&str, &str)> = conditions.iter().map(|(name, value)| (*name, &**value)).collect();
        let answer = self.get(&format!("info/{}", NAMES[name]), &conditions);
        if answer.status == 404 && !self.seen.listed.contains(&name) {
            return None;
        }
        if !matches!(answer.status, 206 | 304) && !self.is_success(&answer, Some(name)) {
            return None;
        }
        let after = Kept::after(kept, &answer);
        for line in lines(after.text()) {
            let (token, _) = version(line);
            self.is_seen(name, token);
            let ever = self.truth.lines_ever.contains(&(name, line.to_owned()));
            assert!(ever, "the upstream never said {line:?} of {}", NAMES[name]);
            self.seen.kept[name] = true;
        }
        self.seen.stale[name] = answer.header("daylight-stale").map(str::to_owned);
        self.seen.infos[name].insert(md5_hex(&after.bytes));
        Some(after)
    }

    /// The listed names; `None`: they are unavailable.
    pub(super) fn names(&mut self) -> Option<Vec<String>> {
        let answer = self.get("names", &[]);
        if !self.is_success(&answer, None) {
            return None;
        }
        let text = answer.text();
        let lines = text.strip_prefix("---\n").unwrap().lines().filter(|line| !line.is_empty());
        let names: Vec<String> = lines.map(str::to_owned).collect();
        names.iter().for_each(|name| assert!(!self.rules.forbid(name_of(name)), "{name} is hidden"));
        Some(names)
    }

    /// One of the files of the older index.
    pub(super) fn specs(&mut self, which: usize) -> Option<Tokens> {
        let answer = self.get(SPECS[which], &[]);
        if !self.is_success(&answer, None) {
            return None;
        }
        let all = marshal::specs(&answer.body).into_iter().map(|(name, token)| (name_of(&name), token));
        let all: Vec<(usize, String)> = all.collect();
        all.iter().for_each(|(name, token)| self.is_seen(*name, token));
        let tokens: Tokens = all.iter().cloned().collect();
        assert_eq!(all.len(), tokens.len(), "a version is there twice: {all:?}");
        Some(tokens)
    }

    /// The versions of a gem in the dependency API.
    pub(super) fn needs(&mut self, name: usize) -> Option<Tokens> {
        let answer = self.get(&format!("api/v1/dependencies.json?gems={}", NAMES[name]), &[]);
        self.is_success(&answer, Some(name)).then(|| self.told(name, &answer.json()))
    }

    /// The versions of a gem in the calls of programs.
    pub(super) fn versions_json(&mut self, name: usize) -> Option<Tokens> {
        let answer = self.get(&format!("api/v1/versions/{}.json", NAMES[name]), &[]);
        if answer.status == 404 {
            return Some(Tokens::new());
        }
        self.is_success(&answer, Some(name)).then(|| self.told(name, &answer.json()))
    }

    fn told(&self, name: usize, all: &Value) -> Tokens {
        let tokens = all.as_array().unwrap().iter().map(|one| (name, token(one, "number")));
        let tokens: Tokens = tokens.collect();
        tokens.iter().for_each(|(name, token)| self.is_seen(*name, token));
        tokens
    }

    /// A package; `None`: it is unavailable.
    pub(super) fn gem(&mut self, name: usize, token: usize) -> Option<Vec<u8>> {
        let path = format!("gems/{}.gem", full_name(name, token));
        let mut answer = self.get(&path, &[]);
        for _ in 0..TRIES {
            let promised = self.promised(name, token);
            let sha256 = crate::world::hex(&<sha2::Sha256 as sha2::Digest>::digest(&answer.body));
            let right = match (answer.status, promised) {
                (200, Some(promised)) if promised == sha256 => {
                    self.seen.packages.insert((name, token), sha256);
                    return Some(answer.body);
                }
                (200, _) => false,
                (403 | 404, promised) => promised.is_none() && (answer.status == 404 || self.rules.touched),
                (status, Some(promised)) => {
                    let had = self.seen.packages.get(&(name, token)) == Some(&promised);
                    let trouble = self.now <= self.trouble || !self.truth.has(name, token, &promised);
                    (500..=504).contains(&status) && !had && trouble
                }
                // The index may list a version whose line does not exist yet or any more, until the whole file may be
                // fetched again.
                (500..=504, None) if self.now <= self.changed.max(self.trouble) + HOUR => true,
                (_, None) => self.may_fail(&answer, Some(name)),
            };
            if right {
                return None;
            }
            answer = self.get(&path, &[]);
        }
        panic!("{path}: {}; promised {:?}", told(&answer), self.promised(name, token));
    }

    /// The checksum of a version in `/info`.
    fn promised(&mut self, name: usize, token: usize) -> Option<String> {
        let info = self.info(name, None)?;
        let lines = lines(info.text());
        let mut found = lines.into_iter().map(version).filter(|(found, _)| *found == TOKENS[token]);
        found.next().map(|(_, checksum)| checksum.to_owned())
    }

    fn gemspec(&mut self, name: usize, token: usize) {
        let path = format!("quick/Marshal.4.8/{}.gemspec.rz", full_name(name, token));
        let answer = self.get(&path, &[]);
        if answer.status == 200 {
            self.is_seen(name, TOKENS[token]);
            let mut unpacked = Vec::new();
            ZlibDecoder::new(&answer.body[..]).read_to_end(&mut unpacked).unwrap();
            assert!(unpacked.starts_with(&[4, 8]));
        } else {
            // Of the package.
            self.gem(name, token);
        }
    }
}

fn token(told: &Value, number: &str) -> String {
    let (number, platform) = (told[number].as_str().unwrap(), told["platform"].as_str().unwrap());
    if platform == "ruby" { number.to_owned() } else { format!("{number}-{platform}") }
}

fn told(answer: &Answer) -> String {
    format!("{} {:?} {}", answer.status, answer.headers, String::from_utf8_lossy(&answer.body))
}
