//! The upstream: its true content, and the possibly different content of its answers.

use super::pool::{NAMES, TOKENS, edition, full_name, line, package};
use super::steps::{Change, Fault, Manner};
use crate::world::{Parts, Says, Upstream, hex};
use format::gem::info::md5_hex;
use sha1::{Digest, Sha1};
use std::collections::{BTreeSet, HashMap};

pub(super) struct Truth {
    pub(super) upstream: Upstream,
    /// The source of its packages.
    source: usize,
    /// The versions of each gem with their editions, in the order of their lines.
    gems: [Vec<(usize, usize)>; NAMES.len()],
    /// The lines of `/versions`, and how many of them are the base.
    lines: Vec<String>,
    base: usize,
    compacted: usize,
    /// The file before the last change.
    before: String,
    /// The content of answers if it differs from the truth: `/versions`, and the `/info` of each gem (or that there is
    /// none).
    versions: Option<String>,
    infos: [Option<Option<String>>; NAMES.len()],
    manner: Manner,
    info_fault: Option<(usize, Fault)>,
    gem_fault: Option<Fault>,
    /// When each version was first pushed.
    pub(super) pushed: HashMap<(usize, usize), u64>,
    /// Names, and names of packages, that any `/versions` or `/info` ever listed.
    pub(super) listed: BTreeSet<String>,
    /// Lines that any `/info` ever had.
    pub(super) lines_ever: BTreeSet<(usize, String)>,
    count: usize,
}

impl Truth {
    pub(super) fn new(source: usize) -> Self {
        let truth = Self {
            upstream: Upstream::start(),
            source,
            gems: Default::default(),
            lines: Vec::new(),
            base: 0,
            compacted: 0,
            before: String::new(),
            versions: None,
            infos: Default::default(),
            manner: Manner::Right,
            info_fault: None,
            gem_fault: None,
            pushed: HashMap::new(),
            listed: BTreeSet::new(),
            lines_ever: BTreeSet::new(),
            count: 0,
        };
        truth.publish();
        truth
    }

    /// The true `/versions`.
    fn text(&self) -> String {
        let lines: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        format!("created_at: 2026-10-{:02}T00:00:00Z\n---\n{lines}", 1 + self.compacted % 28)
    }

    /// The true `/info` of a gem.
    pub(super) fn info(&self, name: usize) -> String {
        let lines = self.gems[name].iter().map(|(token, edition)| line(name, *token, *edition) + "\n");
        "---\n".to_owned() + &lines.collect::<String>()
    }

    /// The `/versions` of answers.
    fn said_versions(&self) -> String {
        self.versions.clone().unwrap_or_else(|| self.text())
    }

    /// The `/info` of answers; `None`: there is none.
    fn said_info(&self, name: usize) -> Option<String> {
        let is = || self.lines_ever.iter().any(|(of, _)| *of == name).then(|| self.info(name));
        self.infos[name].clone().unwrap_or_else(is)
    }

    /// Whether the answers about a gem are consistent.
    pub(super) fn is_coherent(&self, name: usize) -> bool {
        if self.manner == Manner::EndsAtLine {
            return false;
        }
        let versions = self.said_versions();
        let last = versions.lines().rfind(|line| line.split(' ').next() == Some(NAMES[name]));
        let md5 = last.and_then(|line| line.split(' ').nth(2));
        md5 == self.said_info(name).map(|info| md5_hex(info.as_bytes())).as_deref()
    }

    /// Whether all answers are true and well formed.
    pub(super) fn is_well(&self) -> bool {
        let answers = !self.manner.fails() && self.info_fault.is_none() && self.gem_fault.is_none();
        answers && self.versions.is_none() && self.infos.iter().all(Option::is_none)
    }

    /// Whether a request for `/versions` gets an index that arrives. A large one that breaks off counts.
    pub(super) fn is_index(&self) -> bool {
        // An index without lines that lacks its end has no beginning either.
        let begins = self.manner != Manner::EndsInLine || self.said_versions().lines().count() > 2;
        begins && !matches!(self.manner, Manner::Html | Manner::Breaks | Manner::Status(_))
    }

    /// The tokens of a gem.
    pub(super) fn tokens(&self, name: usize) -> Vec<&'static str> {
        self.gems[name].iter().map(|(token, _)| TOKENS[*token]).collect()
    }

    /// Whether it has the package of a version with this SHA-256.
    pub(super) fn has(&self, name: usize, token: usize, sha256: &str) -> bool {
        let same = |(of, edition): &(usize, usize)| *of == token && package(name, token, *edition).sha256 == sha256;
        self.gems[name].iter().any(same)
    }

    pub(super) fn change(&mut self, change: Change, now: u64) {
        let text = self.text();
        match change {
            Change::Push(name, token) => self.push(name, token, now, None),
            Change::PushInMiddle(name, token, at) => self.push(name, token, now, Some(at)),
            Change::PushWithout(name, token) => {
                let before = self.lines.len();
                self.push(name, token, now, None);
                if self.lines.len() > before {
                    let line = self.lines.last_mut().unwrap();
                    *line = line.rsplit_once(' ').unwrap().0.to_owned() + " ";
                }
            }
            Change::Yank(name, token) => {
                let before = self.gems[name].len();
                self.gems[name].retain(|(of, _)| *of != token);
                if self.gems[name].len() < before {
                    self.say(name, &format!("-{}", TOKENS[token]));
                }
            }
            Change::Replace(name, token) => {
                let source = self.source;
                if let Some((_, now)) = self.gems[name].iter_mut().find(|(of, _)| *of == token) {
                    *now = edition(source, *now + 1);
                    self.say(name, &format!("-{0},{0}", TOKENS[token]));
                }
            }
            Change::Wrong(name) => {
                self.count += 1;
                let md5 = md5_hex(format!("wrong {}", self.count).as_bytes());
                if let Some(at) = self.last(name) {
                    self.lines[at] = format!("{} {md5}", self.lines[at].rsplit_once(' ').unwrap().0);
                }
            }
            Change::Correct => self.correct(),
            Change::Compact => {
                self.compacted += 1;
                let live = (0..NAMES.len()).filter(|name| !self.gems[*name].is_empty());
                let line = |name| {
                    let md5 = md5_hex(self.info(name).as_bytes());
                    format!("{} {} {md5}", NAMES[name], self.tokens(name).join(","))
                };
                self.lines = live.map(line).collect();
                self.base = self.lines.len();
            }
            Change::Unreadable(which) => self.lines.push(["", "  ", "repo:a 1 x", "<br>"][which].to_owned()),
            Change::KeepVersions => self.versions = Some(self.said_versions()),
            Change::RollVersionsBack if self.before.is_empty() => {}
            Change::RollVersionsBack => self.versions = Some(self.before.clone()),
            Change::KeepInfo(name) => self.infos[name] = Some(self.said_info(name)),
            Change::CatchUp => (self.versions, self.infos) = (None, Default::default()),
            Change::Manner(manner) => self.manner = manner,
            Change::InfoFault(name, fault) => self.info_fault = Some((name, fault)),
            Change::GemFault(fault) => self.gem_fault = Some(fault),
            Change::Well => (self.manner, self.info_fault, self.gem_fault) = (Manner::Right, None, None),
        }
        if self.text() != text {
            self.before = text;
        }
        for name in 0..NAMES.len() {
            for (token, edition) in self.gems[name].clone() {
                self.listed.insert(full_name(name, token));
                self.lines_ever.insert((name, line(name, token, edition)));
            }
        }
        let said = self.said_versions();
        self.listed.extend(said.lines().skip(2).map(|line| line.split(' ').next().unwrap().to_owned()));
        self.publish();
    }

    /// Makes all answers true and well formed.
    pub(super) fn recover(&mut self, now: u64) {
        [Change::CatchUp, Change::Correct].into_iter().for_each(|change| self.change(change, now));
        // Habits that are not failures stay.
        let manner = if self.manner.fails() { Manner::Right } else { self.manner };
        [Change::Well, Change::Manner(manner)].into_iter().for_each(|change| self.change(change, now));
    }

    fn push(&mut self, name: usize, token: usize, now: u64, at: Option<usize>) {
        if self.gems[name].iter().any(|(of, _)| *of == token) {
            return;
        }
        // A yanked version returns with other bytes, as long as there are any.
        let begin = format!("{} ", TOKENS[token]);
        let count = self.lines_ever.iter().filter(|(of, line)| *of == name && line.starts_with(&begin)).count();
        self.gems[name].push((token, edition(self.source, count)));
        self.pushed.entry((name, token)).or_insert(now);
        self.say(name, TOKENS[token]);
        if let Some(at) = at {
            let line = self.lines.pop().unwrap();
            // After the lines of the same gem, because the last one has the MD5 of its file.
            let first = self.last(name).map_or(self.base, |last| last + 1).max(self.base);
            self.lines.insert(first + at % (self.lines.len() + 1 - first), line);
        }
    }

    fn say(&mut self, name: usize, change: &str) {
        self.lines.push(format!("{} {change} {}", NAMES[name], md5_hex(self.info(name).as_bytes())));
    }

    fn last(&self, name: usize) -> Option<usize> {
        self.lines.iter().rposition(|line| line.split(' ').next() == Some(NAMES[name]))
    }

    fn correct(&mut self) {
        for line in self.lines.iter_mut().filter(|line| line.ends_with(' ') && line.trim().contains(' ')) {
            *line += &md5_hex(line.as_bytes());
        }
        for (name, right) in NAMES.iter().enumerate() {
            let md5 = md5_hex(self.info(name).as_bytes());
            if let Some(at) = self.last(name).filter(|at| !self.lines[*at].ends_with(&md5)) {
                assert!(self.lines[at].starts_with(right));
                self.lines[at] = format!("{} {md5}", self.lines[at].rsplit_once(' ').unwrap().0);
            }
        }
    }

    fn publish(&self) {
        for (name, gems) in self.gems.iter().enumerate() {
            for token in 0..TOKENS.len() {
                let path = format!("/gems/{}.gem", full_name(name, token));
                match gems.iter().find(|(of, _)| *of == token) {
                    Some((_, edition)) => {
                        let bytes = &package(name, token, *edition).bytes;
                        self.upstream.says(&path, faulty(bytes, self.gem_fault));
                    }
                    None => self.upstream.forget(&path),
                }
            }
            let path = format!("/info/{}", NAMES[name]);
            match self.said_info(name) {
                Some(info) => {
                    let fault = self.info_fault.filter(|(of, _)| *of == name).map(|(_, fault)| fault);
                    self.upstream.says(&path, faulty(info.as_bytes(), fault));
                }
                None => self.upstream.forget(&path),
            }
        }
        self.upstream.says("/versions", self.said(&self.said_versions()));
    }

    /// The answer for `/versions` in the present mode.
    fn said(&self, text: &str) -> Says {
        let tag = |tag: String| Says::bytes(text).header("ETag", &tag);
        let md5 = format!("\"{}\"", md5_hex(text.as_bytes()));
        let good = || tag(md5.clone()).parts(Parts::Right);
        match self.manner {
            Manner::Right => good(),
            Manner::IgnoresRange => tag(md5),
            Manner::Shifted => good().parts(Parts::Shifted),
            Manner::RefusesRange => good().parts(Parts::Refused),
            Manner::OpaqueTag => tag(format!("\"{}\"", md5_hex(md5.as_bytes()))).parts(Parts::Right),
            Manner::WeakTag => tag(format!("W/{md5}")).parts(Parts::Right),
            Manner::Sha1Tag => tag(format!("\"{}\"", hex(&Sha1::digest(text)))).parts(Parts::Right),
            Manner::NoTag => Says::bytes(text).parts(Parts::Right),
            Manner::Html => Says::html(),
            Manner::EndsInLine => Says::bytes(&text[..text.len() - 1]),
            Manner::EndsAtLine => {
                let lines = text.lines().count();
                let most = text.lines().take((lines - 1).max(2)).map(|line| format!("{line}\n"));
                Says::bytes(most.collect::<String>()).header("ETag", &md5)
            }
            Manner::Breaks => good().cut_after(text.len() / 2),
            Manner::Status(status) => failing(status),
        }
    }
}

fn faulty(bytes: &[u8], fault: Option<Fault>) -> Says {
    let good = |bytes: &[u8]| Says::bytes(bytes).header("ETag", &format!("\"{}\"", md5_hex(bytes)));
    match fault {
        None => good(bytes),
        Some(Fault::Status(status)) => failing(status),
        Some(Fault::Html) => Says::html(),
        Some(Fault::Short(by)) => Says::bytes(&bytes[..bytes.len().saturating_sub(by).max(4)]),
        Some(Fault::Breaks) => good(bytes).cut_after(bytes.len() / 2),
    }
}

fn failing(status: u16) -> Says {
    let says = Says::status(status);
    if status == 503 { says.header("Retry-After", "30") } else { says }
}
