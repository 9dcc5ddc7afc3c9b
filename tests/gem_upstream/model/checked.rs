//! The conditions for each answer of a repository, in any state of its upstreams.

use super::bundler::{Bundler, Kept, lines, version};
use super::pool::{NAMES, TOKENS, full_name, name_of};
use super::steps::Ask;
use super::{Seen, Stage};
use crate::world::{Answer, Sum, hex, sums};
use flate2::read::ZlibDecoder;
use format::gem::info::md5_hex;
use format::gem::unmarshal;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

/// A look may end between two requests. Then both are repeated, up to this number of times.
pub(super) const TRIES: usize = 30;
const SPECS: [&str; 3] = ["specs.4.8.gz", "prerelease_specs.4.8.gz", "latest_specs.4.8.gz"];

/// The versions in a list.
pub(super) type Tokens = BTreeSet<(usize, String)>;

/// A sequence of steps with one remote repository, or with groups. Each checked repository has a number.
pub(super) trait Checked {
    /// After this number of wrong answers while nothing changed, the answer is wrong.
    const STRIKES: usize;
    /// What the answers are compared with, if it can change between two requests.
    type Observed: PartialEq;

    fn stage(&mut self) -> &mut Stage;
    /// The checked repositories.
    fn sites(&self) -> Vec<usize>;
    /// The name of a repository.
    fn called(&self, at: usize) -> String;
    fn seen(&mut self, at: usize) -> &mut Seen;
    /// The clients, each with its repository.
    fn clients(&mut self) -> &mut [(usize, Bundler)];
    fn observe(&mut self) -> Self::Observed;
    /// Checks the requests that the upstreams received, and whether they are healthy.
    fn note_upstreams(&mut self);
    fn wait(&mut self, seconds: u64);
    /// Makes all answers of the upstreams true and well formed.
    fn recover(&mut self);
    /// Whether a failure is allowed: an upstream fails or failed recently, and nothing of it is cached.
    fn may_fail(&self, at: usize, answer: &Answer, name: Option<usize>) -> bool;
    /// Whether the upstream may lack a package, whose checksum in `/info` this is.
    fn lacks(&self, at: usize, version: (usize, usize), promised: Option<&str>) -> bool;
    /// Whether a policy was ever set.
    fn is_touched(&self) -> bool;
    /// Whether clients may only ever append to `/versions`.
    fn only_grows(&self) -> bool;
    /// A version among these that must not be shown.
    fn foreign(&self, at: usize, tokens: &Tokens) -> Option<String>;
    /// The same for `/info` and answers made from it, which may be newer than the index, or older.
    fn strange(&self, at: usize, tokens: &Tokens) -> Option<String>;
    /// The fault of the state that the lines of `/versions` add up to.
    fn wrong(&self, at: usize, all: &BTreeMap<String, Sum>) -> Option<String>;
    /// Whether a line of `/info` was ever that of the upstream or of the owner.
    fn is_line(&self, at: usize, name: usize, line: &str) -> bool;
    /// Whether `/names` may have a name.
    fn is_name(&self, at: usize, name: usize) -> bool;
    /// Whether every gem with an `/info` has to be listed.
    fn must_list(&self) -> bool;
    /// Whether the files of the upstream disagreed about a gem and have not been seen to agree since. `agrees`: the
    /// answers do.
    fn is_doubtful(&mut self, at: usize, name: usize, agrees: bool) -> bool;
    /// `/versions` was answered, or lines of the `/info` of a gem.
    fn answered(&mut self, at: usize, name: Option<usize>);
    /// The first difference from what the upstreams and hosted members have.
    fn difference(&mut self, at: usize) -> Option<String>;
    /// The state of a gem, in words.
    fn words(&self, at: usize, name: usize) -> String;

    fn get(&mut self, at: usize, path: &str, headers: &[(&str, &str)]) -> Answer {
        let path = format!("{}/{path}", self.called(at));
        self.stage().get(&path, headers)
    }

    fn ask(&mut self, at: usize, ask: Ask) {
        match ask {
            Ask::Names => drop(self.names(at)),
            Ask::Specs(which) => drop(self.specs(at, which)),
            Ask::Needs(name) => drop(self.needs(at, name)),
            Ask::NeedsInMarshal(name) => {
                let answer = self.get(at, &format!("api/v1/dependencies?gems={}", NAMES[name]), &[]);
                self.is_success(at, &answer, Some(name));
            }
            Ask::Versions(name) => {
                self.versions_json(at, name);
                // A search finds the last version of each gem whose name contains the text.
                let found = |one: &Value| (name_of(one["name"].as_str().unwrap()), token(one, "version"));
                self.told(at, name, &format!("search.json?query={}", NAMES[name]), found);
            }
            Ask::OfGem(name) => {
                self.told(at, name, &format!("gems/{}.json", NAMES[name]), |one| (name, token(one, "version")));
            }
            Ask::Info(name) => drop(self.info(at, name, None)),
            Ask::Gem(name, token) => drop(self.gem(at, name, token)),
            Ask::Gemspec(name, token) => self.gemspec(at, name, token),
            Ask::Unknown(number) => {
                for path in [format!("info/secret-{number}"), format!("gems/secret-{number}-1.0.gem")] {
                    let answer = self.get(at, &path, &[]);
                    self.observe();
                    assert!(answer.status == 404 || self.may_fail(at, &answer, None), "{path}: {}", told(&answer));
                }
            }
            Ask::Prefix(which) => self.prefix(at, which),
        }
    }

    /// What a repository answers, while what it is compared with stays; `None`: it fails, and may.
    #[track_caller]
    fn steady<T>(
        &mut self,
        mut ask: impl FnMut(&mut Self) -> Option<T>,
        wrong: impl Fn(&Self, &T) -> Option<String>,
    ) -> Option<T> {
        let (mut strikes, mut last) = (0, String::new());
        for _ in 0..TRIES {
            let before = self.observe();
            let answer = ask(self)?;
            let same = before == self.observe();
            match wrong(self, &answer) {
                None => return Some(answer),
                Some(text) => last = text,
            }
            strikes += usize::from(same);
            if strikes == Self::STRIKES {
                break;
            }
        }
        panic!("{last}");
    }

    /// Whether an answer about all gems, or about one, succeeded. Otherwise it must be an allowed failure.
    #[track_caller]
    fn is_success(&mut self, at: usize, answer: &Answer, name: Option<usize>) -> bool {
        if answer.status != 200 {
            // It may have arrived together with the version that was just seen.
            self.observe();
        }
        assert!(answer.status == 200 || self.may_fail(at, answer, name), "{name:?}: {}", told(answer));
        answer.status == 200
    }

    /// A file that a client requests with its copy.
    fn file(&mut self, at: usize, path: &str, name: Option<usize>, kept: Option<&Kept>) -> Option<Kept> {
        let conditions = Kept::conditions(kept);
        let conditions: Vec<(&str, &str)> = conditions.iter().map(|(name, value)| (*name, &**value)).collect();
        let answer = self.get(at, path, &conditions);
        let is_missing = answer.status == 404 && name.is_some_and(|name| !self.seen(at).listed.contains(&name));
        if is_missing || !matches!(answer.status, 206 | 304) && !self.is_success(at, &answer, name) {
            return None;
        }
        if let Some(name) = name {
            self.seen(at).stale[name] = answer.header("daylight-stale").map(str::to_owned);
        }
        Some(Kept::after(kept, &answer))
    }

    /// `/versions`, requested with the cached file; `None`: it is unavailable.
    #[track_caller]
    fn versions(&mut self, at: usize, kept: Option<&Kept>) -> Option<Kept> {
        let ask = |trial: &mut Self| {
            let after = trial.file(at, "versions", None, kept)?;
            let only_grows = trial.only_grows();
            let seen = trial.seen(at);
            let (begins, before) = (after.bytes.starts_with(&seen.log), String::from_utf8_lossy(&seen.log));
            assert!(begins || !only_grows, "the log was\n{before}\nand is\n{}", after.text());
            seen.log.clone_from(&after.bytes);
            seen.listed.extend(sums(after.text(), false).keys().map(|name| name_of(name)));
            Some(after)
        };
        let after = self.steady(ask, |trial, after| {
            let wrong = trial.wrong(at, &sums(after.text(), false));
            wrong.map(|wrong| format!("{wrong}\n{}", after.text()))
        })?;
        self.answered(at, None);
        Some(after)
    }

    /// An earlier answer is a prefix of this one, or this one is sent as a whole.
    fn prefix(&mut self, at: usize, which: usize) {
        let Some(now) = self.versions(at, None) else { return };
        let ends: Vec<usize> =
            now.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        let end = ends[1 + which % (ends.len() - 1)] + 1;
        let bytes = now.bytes[..end].to_vec();
        let etag = format!("\"{}\"", md5_hex(&bytes));
        self.versions(at, Some(&Kept { bytes, etag }));
    }

    /// `/info` of a gem, requested with the cached file; `None`: it is unavailable, or there is none.
    #[track_caller]
    fn info(&mut self, at: usize, name: usize, kept: Option<&Kept>) -> Option<Kept> {
        let ask = |trial: &mut Self| {
            let after = trial.file(at, &format!("info/{}", NAMES[name]), Some(name), kept)?;
            trial.seen(at).infos[name].insert(md5_hex(&after.bytes));
            Some(after)
        };
        let info = self.steady(ask, |trial, after| {
            let told = lines(after.text()).into_iter().map(|line| (name, version(line).0.to_owned())).collect();
            let foreign = lines(after.text()).into_iter().find(|line| !trial.is_line(at, name, line));
            let foreign = foreign.map(|line| format!("{line} is told: {}", trial.words(at, name)));
            trial.strange(at, &told).or(foreign)
        })?;
        if !lines(info.text()).is_empty() {
            self.answered(at, Some(name));
        }
        Some(info)
    }

    /// The listed names; `None`: they are unavailable.
    fn names(&mut self, at: usize) -> Option<Vec<String>> {
        self.steady(
            |trial| {
                let answer = trial.get(at, "names", &[]);
                trial.is_success(at, &answer, None).then(|| {
                    let lines = answer.text().strip_prefix("---\n").unwrap().lines().filter(|line| !line.is_empty());
                    lines.map(str::to_owned).collect::<Vec<_>>()
                })
            },
            |trial, names| {
                let foreign = names.iter().find(|name| !trial.is_name(at, name_of(name)));
                foreign.map(|name| format!("{name} is a name: {}", trial.words(at, name_of(name))))
            },
        )
    }

    /// One of the files of the older index.
    fn specs(&mut self, at: usize, which: usize) -> Option<Tokens> {
        self.steady(
            |trial| {
                let answer = trial.get(at, SPECS[which], &[]);
                trial.is_success(at, &answer, None).then(|| {
                    let all = unmarshal::specs(&answer.body, 1 << 20).unwrap().into_iter();
                    let all = all.map(|(name, number, platform)| (name_of(&name), joined(&number, &platform)));
                    let all: Vec<(usize, String)> = all.collect();
                    let tokens: Tokens = all.iter().cloned().collect();
                    assert_eq!(all.len(), tokens.len(), "a version is there twice: {all:?}");
                    tokens
                })
            },
            |trial, tokens| trial.foreign(at, tokens),
        )
    }

    /// The versions that a call of programs tells; `None`: they are unavailable. A gem without versions is 404.
    #[track_caller]
    fn told(
        &mut self,
        at: usize,
        name: usize,
        call: &str,
        version: impl Fn(&Value) -> (usize, String),
    ) -> Option<Tokens> {
        self.steady(
            |trial| {
                let answer = trial.get(at, &format!("api/v1/{call}"), &[]);
                if answer.status == 404 {
                    return Some(Tokens::new());
                }
                trial.is_success(at, &answer, Some(name)).then(|| match answer.json() {
                    Value::Array(all) => all.iter().map(&version).collect(),
                    one => Tokens::from([version(&one)]),
                })
            },
            |trial, tokens| trial.strange(at, tokens),
        )
    }

    /// The versions of a gem in the dependency API.
    fn needs(&mut self, at: usize, name: usize) -> Option<Tokens> {
        self.told(at, name, &format!("dependencies.json?gems={}", NAMES[name]), |one| (name, token(one, "number")))
    }

    /// The versions of a gem in the calls of programs.
    fn versions_json(&mut self, at: usize, name: usize) -> Option<Tokens> {
        self.told(at, name, &format!("versions/{}.json", NAMES[name]), |one| (name, token(one, "number")))
    }

    /// A package; `None`: it is unavailable.
    fn gem(&mut self, at: usize, name: usize, token: usize) -> Option<Vec<u8>> {
        let path = format!("gems/{}.gem", full_name(name, token));
        let mut answer = self.get(at, &path, &[]);
        for _ in 0..TRIES {
            let promised = self.promised(at, name, token);
            let sha256 = hex(&Sha256::digest(&answer.body));
            let right = match (answer.status, promised) {
                (200, Some(promised)) if promised == sha256 => {
                    self.seen(at).packages.insert((name, token), sha256);
                    return Some(answer.body);
                }
                (403 | 404 | 410, None) => answer.status != 403 || self.is_touched(),
                (500..=504, promised) => {
                    self.lacks(at, (name, token), promised.as_deref()) || self.may_fail(at, &answer, Some(name))
                }
                _ => false,
            };
            if right {
                return None;
            }
            answer = self.get(at, &path, &[]);
        }
        let promised = self.promised(at, name, token);
        panic!("{path}: {}; promised {promised:?}; {}", told(&answer), self.words(at, name));
    }

    /// The checksum of a version in `/info`.
    fn promised(&mut self, at: usize, name: usize, token: usize) -> Option<String> {
        let info = self.info(at, name, None)?;
        let lines = lines(info.text());
        let mut found = lines.into_iter().map(version).filter(|(found, _)| *found == TOKENS[token]);
        found.next().map(|(_, checksum)| checksum.to_owned())
    }

    fn gemspec(&mut self, at: usize, name: usize, token: usize) {
        let path = format!("quick/Marshal.4.8/{}.gemspec.rz", full_name(name, token));
        let answer = self.steady(
            |trial| Some(trial.get(at, &path, &[])),
            |trial, answer| match answer.status {
                200 => trial.strange(at, &[(name, TOKENS[token].to_owned())].into()),
                _ => None,
            },
        );
        match answer {
            Some(answer) if answer.status == 200 => {
                let mut unpacked = Vec::new();
                ZlibDecoder::new(&answer.body[..]).read_to_end(&mut unpacked).unwrap();
                assert!(unpacked.starts_with(&[4, 8]));
            }
            // Of the package.
            _ => drop(self.gem(at, name, token)),
        }
    }
}

fn token(told: &Value, number: &str) -> String {
    joined(told[number].as_str().unwrap(), told["platform"].as_str().unwrap())
}

/// A version as `/versions` has it.
fn joined(number: &str, platform: &str) -> String {
    if platform == "ruby" { number.to_owned() } else { format!("{number}-{platform}") }
}

pub(super) fn told(answer: &Answer) -> String {
    format!("{} {:?} {}", answer.status, answer.headers, String::from_utf8_lossy(&answer.body))
}
