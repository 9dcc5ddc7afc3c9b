//! The conditions for each answer of a group, in any state of its members.

use super::super::answers::Tokens;
use super::super::bundler::{Kept, lines, sums, version};
use super::super::marshal;
use super::super::pool::{NAMES, TOKENS, edition, full_name, name_of, package};
use super::super::steps::Ask;
use super::{GROUPS, HOSTED, HOUR, REMOTE, Trial};
use crate::world::{Answer, hex};
use flate2::read::ZlibDecoder;
use format::gem::info::md5_hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeSet;
use std::io::Read as _;

/// A look may end between two requests. Then both are repeated, up to this number of times.
pub(super) const TRIES: usize = 30;
/// So many where nothing changed meanwhile.
const STRIKES: usize = 4;
const SPECS: [&str; 3] = ["specs.4.8.gz", "prerelease_specs.4.8.gz", "latest_specs.4.8.gz"];

impl Trial<'_> {
    pub(super) fn ask(&mut self, group: usize, ask: Ask) {
        match ask {
            Ask::Names => drop(self.names(group)),
            Ask::Specs(which) => drop(self.specs(group, which)),
            Ask::Needs(name) => drop(self.needs(group, name)),
            Ask::NeedsInMarshal(name) => {
                let answer = self.get(&self.called(group), &format!("api/v1/dependencies?gems={}", NAMES[name]), &[]);
                self.is_success(group, &answer, Some(name));
            }
            Ask::Versions(name) => {
                self.versions_json(group, name);
                self.search(group, name);
            }
            Ask::OfGem(name) => {
                self.steady(
                    |trial| {
                        let answer = trial.get(&trial.called(group), &format!("api/v1/gems/{}.json", NAMES[name]), &[]);
                        let is_told = answer.status != 404 && trial.is_success(group, &answer, Some(name));
                        is_told.then(|| Tokens::from([(name, token(&answer.json(), "version"))]))
                    },
                    |trial, told| trial.strange(group, told),
                );
            }
            Ask::Info(name) => drop(self.info(group, name, None)),
            Ask::Gem(name, token) => drop(self.gem(group, name, token)),
            Ask::Gemspec(name, token) => self.gemspec(group, name, token),
            Ask::Unknown(number) => {
                for path in [format!("info/secret-{number}"), format!("gems/secret-{number}-1.0.gem")] {
                    let answer = self.get(&self.called(group), &path, &[]);
                    self.observe();
                    assert!(answer.status == 404 || self.may_fail(group, &answer, None), "{path}: {}", told(&answer));
                }
            }
            Ask::Prefix(at) => self.prefix(group, at),
        }
    }

    /// What a group answers, while its members have what it is held against; `None`: it fails, and may.
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
            if strikes == STRIKES {
                break;
            }
        }
        panic!("{last}");
    }

    /// Which of these versions a group must not show.
    fn foreign(&self, group: usize, tokens: &Tokens) -> Option<String> {
        let is_foreign = |(name, token): &&(usize, String)| !self.shown(group, *name).may.contains(token);
        let (name, token) = tokens.iter().find(is_foreign)?;
        Some(format!("{} {token} is shown: {}", NAMES[*name], self.words(group, *name)))
    }

    /// The same for `/info` and answers made from it, which may be newer than the index, or older.
    fn strange(&self, group: usize, tokens: &Tokens) -> Option<String> {
        let is_theirs = |(name, token): &(usize, String)| {
            let place = self.owner(group, *name).filter(|place| !place.is_hosted())?;
            let at = TOKENS.iter().position(|one| one == token)?;
            let pushed = self.truths[place.leaf - REMOTE.start].pushed.get(&(*name, at))?;
            let is_listed = self.leaves[place.leaf].has(*name, token);
            (!is_listed && !self.is_hidden(&place, *name, token, Some(*pushed))).then_some(())
        };
        let others = tokens.iter().filter(|token| is_theirs(token).is_none()).cloned().collect();
        self.foreign(group, &others)
    }

    #[track_caller]
    fn is_success(&mut self, group: usize, answer: &Answer, name: Option<usize>) -> bool {
        if answer.status != 200 {
            // It may have arrived together with the version that was just seen.
            self.observe();
        }
        assert!(answer.status == 200 || self.may_fail(group, answer, name), "{name:?}: {}", told(answer));
        answer.status == 200
    }

    /// Whether a failure is allowed: an upstream fails or failed recently, and nothing of it is cached.
    fn may_fail(&self, group: usize, answer: &Answer, name: Option<usize>) -> bool {
        let places = self.places(group);
        let mut remote = places.iter().filter(|place| !place.is_hosted()).map(|place| place.leaf);
        let is_unknown = |at: usize| !self.leaves[at].synced && self.now <= self.health[at - REMOTE.start].long_trouble;
        let owner = name.and_then(|name| Some((name, self.owner(group, name)?.leaf)));
        let is_missing = |(name, at): (usize, usize)| {
            REMOTE.contains(&at) && {
                let health = &self.health[at - REMOTE.start];
                !health.kept[name] && self.now <= health.trouble
            }
        };
        let is_failure = (500..=504).contains(&answer.status) && answer.status != 501;
        is_failure && (remote.any(is_unknown) || owner.is_some_and(is_missing))
    }

    /// `/versions`, requested with the cached file; `None`: it is unavailable.
    #[track_caller]
    pub(super) fn versions(&mut self, group: usize, kept: Option<&Kept>) -> Option<Kept> {
        let conditions = Kept::conditions(kept);
        let conditions: Vec<(&str, &str)> = conditions.iter().map(|(name, value)| (*name, &**value)).collect();
        let which = group - GROUPS.start;
        self.steady(
            |trial| {
                let answer = trial.get(&trial.called(group), "versions", &conditions);
                if !matches!(answer.status, 206 | 304) && !trial.is_success(group, &answer, None) {
                    return None;
                }
                let after = Kept::after(kept, &answer);
                let seen = &mut trial.seen[which];
                let (begins, before) = (after.bytes.starts_with(&seen.log), String::from_utf8_lossy(&seen.log));
                assert!(begins, "the log was\n{before}\nand is\n{}", after.text());
                seen.log.clone_from(&after.bytes);
                seen.listed.extend(sums(after.text()).keys().map(|name| name_of(name)));
                Some(after)
            },
            |trial, after| {
                let mut all = sums(after.text());
                (0..NAMES.len()).find_map(|name| {
                    let tokens: BTreeSet<String> =
                        all.remove(NAMES[name]).unwrap_or_default().tokens.into_iter().collect();
                    let wrong = !trial.shown(group, name).is(&tokens);
                    wrong.then(|| format!("{tokens:?} are said: {}\n{}", trial.words(group, name), after.text()))
                })
            },
        )
    }

    /// An earlier answer is a prefix of this one, or this one is sent as a whole.
    fn prefix(&mut self, group: usize, at: usize) {
        let Some(now) = self.versions(group, None) else { return };
        let ends: Vec<usize> =
            now.bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
        let end = ends[1 + at % (ends.len() - 1)] + 1;
        let bytes = now.bytes[..end].to_vec();
        let etag = format!("\"{}\"", md5_hex(&bytes));
        self.versions(group, Some(&Kept { bytes, etag }));
    }

    /// `/info` of a gem, requested with the cached file; `None`: it is unavailable, or there is none.
    #[track_caller]
    pub(super) fn info(&mut self, group: usize, name: usize, kept: Option<&Kept>) -> Option<Kept> {
        let conditions = Kept::conditions(kept);
        let conditions: Vec<(&str, &str)> = conditions.iter().map(|(name, value)| (*name, &**value)).collect();
        let which = group - GROUPS.start;
        self.steady(
            |trial| {
                let answer = trial.get(&trial.called(group), &format!("info/{}", NAMES[name]), &conditions);
                if answer.status == 404 && !trial.seen[which].listed.contains(&name) {
                    return None;
                }
                if !matches!(answer.status, 206 | 304) && !trial.is_success(group, &answer, Some(name)) {
                    return None;
                }
                let after = Kept::after(kept, &answer);
                let seen = &mut trial.seen[which];
                seen.stale[name] = answer.header("daylight-stale").map(str::to_owned);
                seen.infos[name].insert(md5_hex(&after.bytes));
                Some(after)
            },
            |trial, after| {
                let told = lines(after.text()).into_iter().map(|line| (name, version(line).0.to_owned())).collect();
                let foreign = lines(after.text()).into_iter().find(|line| !trial.is_owners(group, name, line));
                let foreign = foreign.map(|line| format!("{line} is told: {}", trial.words(group, name)));
                trial.strange(group, &told).or(foreign)
            },
        )
        .inspect(|info| {
            let owner = self.owner(group, name).filter(|place| !place.is_hosted() && !lines(info.text()).is_empty());
            owner.into_iter().for_each(|place| self.health[place.leaf - REMOTE.start].kept[name] = true);
        })
    }

    /// Whether a line of `/info` is the owner's.
    pub(super) fn is_owners(&self, group: usize, name: usize, line: &str) -> bool {
        let Some(at) = self.owner(group, name).map(|place| place.leaf) else { return false };
        if REMOTE.contains(&at) {
            return self.truths[at - REMOTE.start].lines_ever.contains(&(name, line.to_owned()));
        }
        let (found, checksum) = version(line);
        let token = TOKENS.iter().position(|token| *token == found);
        token.is_some_and(|token| package(name, token, edition(at + 2, 0)).sha256 == checksum)
    }

    /// The listed names; `None`: they are unavailable.
    pub(super) fn names(&mut self, group: usize) -> Option<Vec<String>> {
        self.steady(
            |trial| {
                let answer = trial.get(&trial.called(group), "names", &[]);
                trial.is_success(group, &answer, None).then(|| {
                    let lines = answer.text().strip_prefix("---\n").unwrap().lines().filter(|line| !line.is_empty());
                    lines.map(str::to_owned).collect::<Vec<_>>()
                })
            },
            |trial, names| {
                let foreign = names.iter().find(|name| trial.shown(group, name_of(name)).may.is_empty());
                foreign.map(|name| format!("{name} is a name: {}", trial.words(group, name_of(name))))
            },
        )
    }

    /// One of the files of the older index.
    pub(super) fn specs(&mut self, group: usize, which: usize) -> Option<Tokens> {
        self.steady(
            |trial| {
                let answer = trial.get(&trial.called(group), SPECS[which], &[]);
                trial.is_success(group, &answer, None).then(|| {
                    let all = marshal::specs(&answer.body).into_iter().map(|(name, token)| (name_of(&name), token));
                    let all: Vec<(usize, String)> = all.collect();
                    let tokens: Tokens = all.iter().cloned().collect();
                    assert_eq!(all.len(), tokens.len(), "a version is there twice: {all:?}");
                    tokens
                })
            },
            |trial, tokens| trial.foreign(group, tokens),
        )
    }

    /// The versions of a gem in the dependency API.
    pub(super) fn needs(&mut self, group: usize, name: usize) -> Option<Tokens> {
        self.steady(
            |trial| {
                let path = format!("api/v1/dependencies.json?gems={}", NAMES[name]);
                let answer = trial.get(&trial.called(group), &path, &[]);
                trial.is_success(group, &answer, Some(name)).then(|| tokens(name, &answer.json()))
            },
            |trial, tokens| trial.strange(group, tokens),
        )
    }

    /// The versions of a gem in the calls of programs.
    pub(super) fn versions_json(&mut self, group: usize, name: usize) -> Option<Tokens> {
        self.steady(
            |trial| {
                let answer = trial.get(&trial.called(group), &format!("api/v1/versions/{}.json", NAMES[name]), &[]);
                if answer.status == 404 {
                    return Some(Tokens::new());
                }
                trial.is_success(group, &answer, Some(name)).then(|| tokens(name, &answer.json()))
            },
            |trial, tokens| trial.strange(group, tokens),
        )
    }

    /// The result of a search for the name of a gem: the last version of each gem whose name contains it.
    fn search(&mut self, group: usize, name: usize) -> Option<Tokens> {
        self.steady(
            |trial| {
                let path = format!("api/v1/search.json?query={}", NAMES[name]);
                let answer = trial.get(&trial.called(group), &path, &[]);
                trial.is_success(group, &answer, None).then(|| {
                    let found = answer.json();
                    let found = found.as_array().unwrap().iter();
                    found.map(|one| (name_of(one["name"].as_str().unwrap()), token(one, "version"))).collect()
                })
            },
            |trial, tokens| trial.strange(group, tokens),
        )
    }

    /// A package; `None`: it is unavailable.
    pub(super) fn gem(&mut self, group: usize, name: usize, token: usize) -> Option<Vec<u8>> {
        let path = format!("gems/{}.gem", full_name(name, token));
        let mut answer = self.get(&self.called(group), &path, &[]);
        for _ in 0..TRIES {
            let promised = self.promised(group, name, token);
            let sha256 = hex(&Sha256::digest(&answer.body));
            let owner = self.owner(group, name).map(|place| place.leaf);
            let is_touched = self.rules.iter().any(|rules| rules.touched);
            let right = match (answer.status, promised) {
                (200, Some(promised)) if promised == sha256 => {
                    self.seen[group - GROUPS.start].packages.insert((name, token), sha256);
                    return Some(answer.body);
                }
                (200, _) => false,
                (403 | 404 | 410, None) => answer.status != 403 || is_touched,
                (500..=504, promised) => match owner.filter(|at| REMOTE.contains(at)) {
                    Some(at) => {
                        self.lacks(group, at, (name, token), promised.as_deref())
                            || self.may_fail(group, &answer, Some(name))
                    }
                    None => self.may_fail(group, &answer, Some(name)),
                },
                _ => false,
            };
            if right {
                return None;
            }
            answer = self.get(&self.called(group), &path, &[]);
        }
        let promised = self.promised(group, name, token);
        panic!("{path}: {}; promised {promised:?}; {}", told(&answer), self.words(group, name));
    }

    /// Whether an upstream may lack a package.
    fn lacks(&self, group: usize, at: usize, (name, token): (usize, usize), promised: Option<&str>) -> bool {
        let (truth, health) = (&self.truths[at - REMOTE.start], &self.health[at - REMOTE.start]);
        match promised {
            Some(promised) => {
                let packages = &self.seen[group - GROUPS.start].packages;
                let had = packages.get(&(name, token)).is_some_and(|had| had == promised);
                !had && (self.now <= health.trouble || !truth.has(name, token, promised))
            }
            // The index may list a version whose line does not exist yet or any more, until the whole file may be
            // fetched again.
            None => self.now <= health.changed.max(health.trouble) + HOUR,
        }
    }

    /// The checksum of a version in `/info`.
    fn promised(&mut self, group: usize, name: usize, token: usize) -> Option<String> {
        let info = self.info(group, name, None)?;
        let lines = lines(info.text());
        let mut found = lines.into_iter().map(version).filter(|(found, _)| *found == TOKENS[token]);
        found.next().map(|(_, checksum)| checksum.to_owned())
    }

    fn gemspec(&mut self, group: usize, name: usize, token: usize) {
        let path = format!("quick/Marshal.4.8/{}.gemspec.rz", full_name(name, token));
        let answer = self.steady(
            |trial| Some(trial.get(&trial.called(group), &path, &[])),
            |trial, answer| match answer.status {
                200 => trial.strange(group, &[(name, TOKENS[token].to_owned())].into()),
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
            _ => drop(self.gem(group, name, token)),
        }
    }

    /// Whether a hosted member has the name now, so that all facts about it are available.
    pub(super) fn is_ours(&self, group: usize, name: usize) -> bool {
        self.owner(group, name).is_some_and(|place| HOSTED.contains(&place.leaf))
    }
}

fn tokens(name: usize, all: &Value) -> Tokens {
    all.as_array().unwrap().iter().map(|one| (name, token(one, "number"))).collect()
}

fn token(told: &Value, number: &str) -> String {
    let (number, platform) = (told[number].as_str().unwrap(), told["platform"].as_str().unwrap());
    if platform == "ruby" { number.to_owned() } else { format!("{number}-{platform}") }
}

pub(super) fn told(answer: &Answer) -> String {
    format!("{} {:?} {}", answer.status, answer.headers, String::from_utf8_lossy(&answer.body))
}
