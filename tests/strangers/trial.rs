//! One history against a server. Each answer is compared with the rules.

use super::rules::{Repository, Rules, Token, Verdict};
use super::steps::{SCOPES, Shown, Step, WHAT};
use crate::world::{Answer, Gem, Person};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::json;
use std::collections::VecDeque;
use std::time::Duration;
use telemetry::Clock;

/// One history, and the rules that it is compared with.
pub(super) struct Trial<'a> {
    pub(super) admin: Person,
    pub(super) anyone: Person,
    pub(super) clock: &'a Clock,
    pub(super) number: u32,
    pub(super) rules: Rules,
    /// The latest reads. They are repeated after each change, because their answers may be pages.
    pub(super) warm: VecDeque<(Shown, usize, usize)>,
}

const WARM: usize = 8;

impl Trial<'_> {
    fn name(&self, repository: usize) -> String {
        format!("trial-{}-{repository}", self.number)
    }

    fn gem(&self, repository: usize, version: u8) -> Gem {
        let seal = self.rules.repositories.get(&repository).map_or("", |there| &there.seal);
        Gem::new("lamp", &format!("1.{version}")).payload(seal.as_bytes())
    }

    /// The header with the credentials, and the tokens in it.
    fn show(&self, shown: Shown) -> (Option<String>, Vec<Option<usize>>) {
        let count = self.rules.tokens.len();
        let pick = |at: usize| (count > 0).then(|| at % count);
        let secret =
            |at: usize| pick(at).map_or_else(|| "daylight_none".to_owned(), |at| self.rules.tokens[at].secret.clone());
        let basic =
            |user: &str, password: &str| format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")));
        let (header, tokens) = match shown {
            Shown::Nothing => return (None, vec![]),
            Shown::Bare(at) => (secret(at), vec![pick(at)]),
            Shown::Bearer(at) => (format!("bearer {}", secret(at)), vec![pick(at)]),
            Shown::User(at) => (basic(&secret(at), ""), vec![pick(at)]),
            Shown::Password(at) => (basic("somebody", &secret(at)), vec![pick(at)]),
            Shown::Both(user, password) => (basic(&secret(user), &secret(password)), vec![pick(password), pick(user)]),
            Shown::Cut(at) => (secret(at)[..secret(at).len() - 1].to_owned(), vec![]),
            Shown::Longer(at) => (format!("Bearer {}x", secret(at)), vec![]),
            Shown::Garbage => ("Basic %%%".to_owned(), vec![]),
        };
        (Some(header), tokens)
    }

    fn ask(&self, header: &Option<String>, method: &str, path: &str, more: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut headers = more.to_vec();
        headers.extend(header.as_deref().map(|header| ("Authorization", header)));
        self.anyone.ask(method, path, &headers, body)
    }

    /// Runs the step, and fails if the server breaks the rules.
    pub(super) fn step(&mut self, step: Step) {
        match step {
            Step::Make { repository, private } => {
                let wanted =
                    json!({ "name": self.name(repository), "format": "gem", "kind": "hosted", "private": private });
                let taken = self.rules.repositories.contains_key(&repository);
                let made = self.admin.post_json("/api/v1/repositories", &wanted);
                let id = made.expect(if taken { 409 } else { 201 }).header("daylight-event").unwrap().to_owned();
                let new = || Repository { private, seal: id, ..Repository::default() };
                self.rules.repositories.entry(repository).or_insert_with(new);
            }
            Step::Remove { repository } => {
                let name = self.name(repository);
                let path = format!("/api/v1/repositories/{name}?confirm={name}");
                let there = self.rules.repositories.remove(&repository).is_some();
                self.admin.ask("DELETE", &path, &[], b"").expect(if there { 200 } else { 404 });
            }
            Step::Mint { scope, repository, seconds } => {
                let known = repository.filter(|at| self.rules.repositories.contains_key(at));
                let names: Vec<String> = known.iter().map(|at| self.name(*at)).collect();
                let expires = seconds.map(|seconds| self.rules.now.plus(Duration::from_secs(seconds.into())));
                let name = format!("token-{}-{}", self.number, self.rules.tokens.len());
                let wanted = json!({
                    "name": name, "owner": "somebody", "scopes": [SCOPES[scope]], "repositories": names,
                    "expires": expires.map(|at| at.to_string()),
                });
                let made = self.admin.post_json("/api/v1/tokens", &wanted).expect(201).json();
                self.rules.tokens.push(Token {
                    secret: made["secret"].as_str().unwrap().to_owned(),
                    scope: SCOPES[scope],
                    repositories: known.iter().map(|at| self.rules.repositories[at].seal.clone()).collect(),
                    expires,
                    revoked: false,
                });
            }
            Step::Revoke { token } => {
                let Some(at) = token.checked_rem(self.rules.tokens.len()) else { return };
                let path = format!("/api/v1/tokens/token-{}-{at}", self.number);
                let gone = std::mem::replace(&mut self.rules.tokens[at].revoked, true);
                self.admin.ask("DELETE", &path, &[], b"").expect(if gone { 404 } else { 204 });
            }
            Step::Wait { seconds } => self.wait(Duration::from_secs(seconds.into())),
            Step::Push { shown, repository, version } => self.push(shown, repository, version),
            Step::Yank { shown, repository, version } => self.yank(shown, repository, version),
            Step::Read { shown, repository, what, head, unchanged, times } => {
                for _ in 0..times {
                    self.read(shown, repository, WHAT[what], head, unchanged);
                }
                self.warm.push_back((shown, repository, what));
                self.warm.drain(..self.warm.len().saturating_sub(WARM));
                return;
            }
        }
        for (shown, repository, what) in &self.warm {
            self.read(*shown, *repository, WHAT[*what], false, false);
        }
    }

    fn wait(&mut self, time: Duration) {
        self.rules.now = self.rules.now.plus(time);
        self.clock.set(Some(self.rules.now));
    }

    fn push(&mut self, shown: Shown, repository: usize, version: u8) {
        // The order of two versions of the same millisecond is not defined.
        self.wait(Duration::from_millis(1));
        let (header, tokens) = self.show(shown);
        let path = format!("/repository/{}/api/v1/gems", self.name(repository));
        let bytes = self.gem(repository, version).bytes();
        let answer = self.ask(&header, "POST", &path, &[], &bytes);
        match self.rules.judge(&tokens, "write", repository) {
            Verdict::Refused(status) => drop(answer.expect(status)),
            Verdict::Allowed => {
                let there = self.rules.repositories.get_mut(&repository).unwrap();
                let live = there.versions.get(&version).copied();
                answer.expect(if live == Some(false) { 409 } else { 200 });
                if live.is_none() {
                    there.versions.insert(version, true);
                    there.pushed.push(version);
                }
            }
        }
    }

    fn yank(&mut self, shown: Shown, repository: usize, version: u8) {
        let (header, tokens) = self.show(shown);
        let path = format!("/repository/{}/api/v1/gems/yank?gem_name=lamp&version=1.{version}", self.name(repository));
        let answer = self.ask(&header, "DELETE", &path, &[], b"");
        match self.rules.judge(&tokens, "delete", repository) {
            Verdict::Refused(status) => drop(answer.expect(status)),
            Verdict::Allowed => {
                let there = self.rules.repositories.get_mut(&repository).unwrap();
                let live = there.versions.get(&version) == Some(&true);
                answer.expect(if live { 200 } else { 404 });
                if live {
                    there.versions.insert(version, false);
                }
            }
        }
    }

    fn read(&self, shown: Shown, repository: usize, what: &str, head: bool, unchanged: bool) {
        let (header, tokens) = self.show(shown);
        let path = format!("/repository/{}/{what}", self.name(repository));
        let more: &[_] = if unchanged { &[("If-None-Match", "*")] } else { &[] };
        let answer = self.ask(&header, if head { "HEAD" } else { "GET" }, &path, more, b"");
        let there = match self.rules.judge(&tokens, "read", repository) {
            Verdict::Allowed => &self.rules.repositories[&repository],
            Verdict::Refused(status) => {
                assert_eq!((answer.status, answer.header("etag")), (status, None), "{path} for {shown:?}");
                return;
            }
        };
        let live: Vec<u8> = there.pushed.iter().copied().filter(|version| there.versions[version]).collect();
        let asked = what.strip_prefix("gems/lamp-1.").and_then(|rest| rest.strip_suffix(".gem"));
        let asked: Option<u8> = asked.map(|version| version.parse().unwrap());
        let exists = match what {
            "info/lamp" | "api/v1/gems/lamp/owners.json" => !there.pushed.is_empty(),
            "api/v1/versions/lamp.json" => !live.is_empty(),
            _ => asked.is_none_or(|version| live.contains(&version)),
        };
        let answer = answer.expect(if !exists {
            404
        } else if unchanged {
            304
        } else {
            200
        });
        assert!(!there.private || !answer.header("cache-control").is_some_and(|told| told.contains("public")));
        if answer.status != 200 || head {
            return;
        }
        if let Some(version) = asked {
            assert!(answer.body == self.gem(repository, version).bytes(), "{path} is from another life");
        } else if what == "info/lamp" {
            let told: Vec<&str> = answer.text().lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
            assert_eq!(told, live.iter().map(|version| format!("1.{version}")).collect::<Vec<_>>());
        } else if what == "api/v1/versions/lamp.json" {
            let told = answer.json();
            let mut told: Vec<&str> =
                told.as_array().unwrap().iter().map(|one| one["number"].as_str().unwrap()).collect();
            told.sort_unstable();
            let mut live: Vec<_> = live.iter().map(|version| format!("1.{version}")).collect();
            live.sort_unstable();
            assert_eq!(told, live);
        } else if what.starts_with("api/") {
            let found = answer.json().as_array().is_some_and(|found| !found.is_empty());
            assert_eq!(found, what.ends_with("owners.json") || !live.is_empty(), "{path}: {}", answer.text());
        } else {
            let known = if what == "names" { !live.is_empty() } else { !there.pushed.is_empty() };
            assert_eq!(answer.text().contains("\nlamp"), known, "{path}: {}", answer.text());
        }
    }
}
