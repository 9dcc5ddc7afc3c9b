//! A remote repository, its upstream, and its clients.

use super::agreement::Agrees;
use super::bundler::{Bundler, lines, version};
use super::checked::{Checked, Tokens};
use super::pool::{NAMES, TOKENS, full_name, name_of, package};
use super::rules::Rules;
use super::steps::{self, Step};
use super::truth::Truth;
use super::{HOUR, LATER, Seen, Stage, tries};
use crate::world::{Answer, Sum, sums};
use format::gem::info::md5_hex;
use serde_json::json;
use std::collections::BTreeMap;

const SEQUENCES: u32 = 40;
/// Maximum number of transfers of the whole file within an hour.
const WHOLES: usize = 6;

struct Trial<'a> {
    stage: &'a mut Stage,
    repository: String,
    truth: Truth,
    rules: Rules,
    seen: Seen,
    /// When `/versions` was first answered.
    first: Option<u64>,
    /// The gems whose `/info` had a line in an answer.
    kept: [bool; NAMES.len()],
    /// The gems whose upstream files disagreed and have not been seen to agree since.
    doubtful: [bool; NAMES.len()],
    clients: [(usize, Bundler); 2],
    now: u64,
    /// Until then the upstream may be refused, and its whole file may be refused.
    trouble: u64,
    long_trouble: u64,
    /// When the upstream last changed.
    changed: u64,
    /// How many of the upstream's requests were checked, and the time spans in which it sent `/versions` as a whole.
    looked: usize,
    wholes: Vec<(u64, u64)>,
    /// The previous moment, and the gems that were forbidden for all upstreams at the last check.
    earlier: u64,
    forbidden: [bool; NAMES.len()],
    /// Whether the clock was set since.
    waited: bool,
    /// Whether the server restarted since.
    restarted: bool,
}

impl<'a> Trial<'a> {
    fn new(stage: &'a mut Stage, number: usize) -> Self {
        let (truth, now) = (Truth::new(0), stage.now);
        let repository = format!("far-{number}");
        stage.world.remote_of("gem", &repository, &truth.upstream.url());
        Self {
            stage,
            repository,
            truth,
            rules: Rules::default(),
            seen: Seen::default(),
            first: None,
            kept: Default::default(),
            doubtful: Default::default(),
            clients: Default::default(),
            now,
            trouble: now,
            long_trouble: now,
            changed: now,
            looked: 0,
            wholes: Vec::new(),
            earlier: now,
            forbidden: Default::default(),
            waited: false,
            restarted: false,
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Upstream(change) => {
                self.truth.change(change, self.now);
                self.changed = self.now;
            }
            Step::Rule(rule) => {
                self.rules.set(rule);
                self.stage.world.change(&self.repository, &json!({ "policy": self.rules.setting() }));
            }
            Step::Wait(seconds) => self.wait(seconds),
            Step::Ask(ask) => self.ask(0, ask),
            Step::Bundle(client, name) => self.bundle(client, name),
            Step::Agree => self.agree(0),
            Step::Restart => {
                self.stage.restart(|world| world.stop());
                // The number of transfers is in memory only, and the last one may be recorded late.
                self.restarted = true;
            }
        }
        self.note_upstreams();
    }

    /// Whether a policy hides this version, or the upstream never had it.
    fn is_foreign(&self, name: usize, token: &str) -> bool {
        let at = TOKENS.iter().position(|one| *one == token).unwrap_or_else(|| panic!("nobody has {token:?}"));
        let Some(pushed) = self.truth.pushed.get(&(name, at)) else { return true };
        let later = self.first.is_some_and(|first| *pushed > first).then_some(*pushed);
        self.rules.hide(name, token, later, self.now)
    }
}

impl Checked for Trial<'_> {
    const STRIKES: usize = 1;
    type Observed = ();

    fn stage(&mut self) -> &mut Stage {
        self.stage
    }

    fn sites(&self) -> Vec<usize> {
        vec![0]
    }

    fn called(&self, _: usize) -> String {
        self.repository.clone()
    }

    fn seen(&mut self, _: usize) -> &mut Seen {
        &mut self.seen
    }

    fn clients(&mut self) -> &mut [(usize, Bundler)] {
        &mut self.clients
    }

    fn observe(&mut self) {}

    fn note_upstreams(&mut self) {
        let asked = self.truth.upstream.asked();
        for asked in &asked[self.looked..] {
            let path = asked.path.split('?').next().unwrap();
            let name = path.strip_prefix("/info/").or_else(|| path.strip_prefix("/gems/")?.strip_suffix(".gem"));
            match name {
                Some(name) => assert!(self.truth.listed.contains(name), "{path} is asked for, and not listed"),
                None => assert_eq!(path, "/versions", "nothing else is asked for"),
            }
            let forbidden = (0..NAMES.len()).filter(|of| self.forbidden[*of] && self.rules.forbid(*of));
            forbidden.for_each(|of| assert_ne!(path, format!("/info/{}", NAMES[of]), "it is asked for, and forbidden"));
            if path == "/versions" && asked.answered == 200 && self.truth.is_index() {
                self.wholes.push((self.earlier, self.now));
            }
        }
        (self.looked, self.earlier) = (asked.len(), self.now);
        if self.restarted {
            self.wholes.clear();
        }
        for sent in self.wholes.windows(WHOLES + 1) {
            assert!(sent[WHOLES].1 - sent[0].0 >= HOUR, "sent whole too often: {sent:?}");
        }
        // A job that began before the rule may still make a request. It has ended when the clock is set the next time.
        let waited = std::mem::take(&mut self.waited);
        self.restarted &= !waited;
        self.forbidden = std::array::from_fn(|name| self.rules.forbid(name) && (waited || self.forbidden[name]));
        if !self.truth.is_well() {
            (self.trouble, self.long_trouble) = (self.now + LATER, self.now + HOUR + LATER);
        }
        for name in 0..NAMES.len() {
            self.doubtful[name] |= !self.truth.is_coherent(name);
        }
    }

    fn wait(&mut self, seconds: u64) {
        (self.earlier, self.now, self.waited) = (self.now, self.now + seconds, true);
        self.stage.now = self.now;
        self.stage.set_time();
    }

    fn recover(&mut self) {
        self.truth.recover(self.now);
    }

    fn may_fail(&self, _: usize, answer: &Answer, name: Option<usize>) -> bool {
        let is_kept = name.map_or_else(|| self.first.is_some(), |name| self.kept[name]);
        let since = if self.first.is_some() { self.trouble } else { self.long_trouble };
        (500..=504).contains(&answer.status) && answer.status != 501 && !is_kept && self.now <= since
    }

    fn lacks(&self, _: usize, (name, token): (usize, usize), promised: Option<&str>) -> bool {
        let Some(promised) = promised else {
            // The index may list a version whose line does not exist yet or any more, until the whole file may be
            // fetched again.
            return self.now <= self.changed.max(self.trouble) + HOUR;
        };
        let had = self.seen.packages.get(&(name, token)).is_some_and(|had| had == promised);
        !had && (self.now <= self.trouble || !self.truth.has(name, token, promised))
    }

    fn is_touched(&self) -> bool {
        self.rules.touched
    }

    fn only_grows(&self) -> bool {
        !self.rules.touched
    }

    fn foreign(&self, at: usize, tokens: &Tokens) -> Option<String> {
        let (name, token) = tokens.iter().find(|(name, token)| self.is_foreign(*name, token))?;
        Some(format!("{token} is shown: {}", self.words(at, *name)))
    }

    fn strange(&self, at: usize, tokens: &Tokens) -> Option<String> {
        self.foreign(at, tokens)
    }

    fn wrong(&self, at: usize, all: &BTreeMap<String, Sum>) -> Option<String> {
        let of = |(name, sum): (&String, &Sum)| {
            let name = name_of(name);
            sum.tokens.iter().map(|token| (name, token.clone())).collect::<Tokens>()
        };
        self.foreign(at, &all.iter().flat_map(of).collect())
    }

    fn is_line(&self, _: usize, name: usize, line: &str) -> bool {
        self.truth.lines_ever.contains(&(name, line.to_owned()))
    }

    fn is_name(&self, _: usize, name: usize) -> bool {
        !self.rules.forbid(name)
    }

    fn must_list(&self) -> bool {
        false
    }

    /// The upstream itself may be inconsistent. It has to become consistent, and be looked at again.
    fn is_doubtful(&mut self, _: usize, name: usize, agrees: bool) -> bool {
        self.doubtful[name] &= !(agrees && self.truth.is_coherent(name));
        self.doubtful[name]
    }

    fn answered(&mut self, _: usize, name: Option<usize>) {
        match name {
            Some(name) => self.kept[name] = true,
            None => self.first = self.first.or(Some(self.now)),
        }
    }

    fn difference(&mut self, at: usize) -> Option<String> {
        let versions = self.versions(at, None).unwrap();
        let all = sums(versions.text(), false);
        for (name, called) in NAMES.iter().enumerate() {
            let hidden = |token: &str| self.rules.hide(name, token, None, self.now);
            let mut expected = self.truth.tokens(name);
            expected.retain(|token| !hidden(token));
            let Some(Sum { tokens, md5 }) = all.get(*called) else {
                if expected.is_empty() {
                    continue;
                }
                return Some(format!("{called} is not listed:\n{}", versions.text()));
            };
            let mut is: Vec<&str> = tokens.iter().map(|token| &**token).collect();
            is.sort_unstable();
            expected.sort_unstable();
            if is != expected {
                return Some(format!("{called} has {expected:?}, and is said to have {is:?}:\n{}", versions.text()));
            }
            let truth = self.truth.info(name);
            let seen = lines(&truth).into_iter().filter(|line| !hidden(version(line).0));
            let expected: String = seen.map(|line| format!("{line}\n")).collect();
            let info = self.info(at, name, None).unwrap_or_else(|| panic!("{called} is listed"));
            let whole = expected.len() + 4 == truth.len();
            if info.text() != format!("---\n{expected}") {
                return Some(format!("{called} is\n{expected}and is said to be\n{}", info.text()));
            }
            if let Some(stale) = &self.seen.stale[name] {
                return Some(format!("{called} is stale: {stale}\n{}", versions.text()));
            }
            if whole && !tokens.is_empty() && *md5 != md5_hex(&info.bytes) {
                return Some(format!("{called} has the MD5 {}, and not:\n{}", md5_hex(&info.bytes), versions.text()));
            }
            for (token, number) in TOKENS.iter().enumerate() {
                let had = self.gem(at, name, token);
                let wanted = is.contains(number);
                if had.is_some() != wanted {
                    return Some(format!("{} cannot be had: {}", full_name(name, token), !wanted));
                }
                let known = had.is_none_or(|had| (0..3).any(|edition| package(name, token, edition).bytes == had));
                assert!(known, "the bytes of {}", full_name(name, token));
            }
        }
        None
    }

    fn words(&self, _: usize, name: usize) -> String {
        format!("{} by {:?}, of which the upstream has {:?}", NAMES[name], self.rules, self.truth.tokens(name))
    }
}

#[test]
fn a_remote_repository_tells_its_clients_nothing_that_they_cannot_believe_and_in_the_end_what_the_upstream_has() {
    tries(SEQUENCES, steps::all(), |stage, number, sequence| {
        let mut trial = Trial::new(stage, number);
        sequence.into_iter().for_each(|step| trial.step(step));
        trial.settle();
        let path = format!("/api/v1/repositories/{0}?confirm={0}", trial.repository);
        trial.stage.world.admin().ask("DELETE", &path, &[], b"").expect(200);
    });
}
