//! Reads a recording of `daylight tail --all --out FILE`: the requests that can be sent again, in the order in which they began.

use super::left_out::LeftOut;
use super::line::{self, EventLine, Line};
use crate::cli::failure::{Failure, plain};
use anyhow::Context as _;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufRead, BufReader, Read as _};
use std::path::Path;
use std::time::Duration;
use telemetry::Layer;

/// The longest line, in bytes. The server writes shorter ones.
const LINE_MAX: usize = 1 << 20;
/// The most requests: some 200 bytes of memory each.
const REQUESTS_MAX: usize = 4_000_000;
/// The most repositories of which it is known whether they need a token, and the longest name of one: no server has more.
const REPOSITORIES_MAX: usize = 100_000;
const REPOSITORY_MAX: usize = 256;
/// The status of a request that lacks a token.
const UNAUTHORIZED: u16 = 401;
/// The most lines that are no events whose numbers are told.
const NUMBERS_MAX: usize = 5;

/// A request that can be sent again.
#[derive(Debug)]
pub(super) struct Recorded {
    /// When it began, in milliseconds since the epoch.
    pub(super) at: i64,
    /// How long it took, in nanoseconds.
    pub(super) duration: u64,
    pub(super) bytes: u64,
    pub(super) path: Box<str>,
    pub(super) repository: Name,
    pub(super) file: Name,
    pub(super) agent: Name,
    pub(super) status: u16,
    pub(super) head: bool,
    /// Whether it had a token.
    pub(super) token: bool,
    /// Whether a page answered it. The event then has no name of a token.
    page: bool,
}

/// A text of which many requests have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Name(u32);

/// A recording.
#[derive(Debug, Default)]
pub(super) struct Recording {
    pub(super) requests: Vec<Recorded>,
    pub(super) left_out: BTreeMap<LeftOut, u64>,
    pub(super) jobs: u64,
    /// Events that stand for others, too, and remarks that there is a sample.
    pub(super) sampled: u64,
    /// Events that the server could not send.
    pub(super) lost: u64,
    /// How often the connection broke.
    pub(super) gaps: u64,
    /// Lines that are no events.
    pub(super) malformed: u64,
    /// The numbers of the first of them, from 1.
    pub(super) numbers: Vec<u64>,
    /// Lost events of the connection under way.
    losing: u64,
    tokens: HashMap<Name, Tokens>,
    names: Names,
}

#[derive(Debug, Default)]
struct Names {
    all: Vec<Box<str>>,
    known: HashMap<Box<str>, u32>,
}

/// The requests of a repository that no page answered.
#[derive(Debug, Default)]
struct Tokens {
    /// Whether one had a token.
    some: bool,
    /// Whether one without a token was not refused.
    open: bool,
}

/// What the requests of a recording are sent to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Against<'a> {
    /// The URL of the server, without a slash at its end.
    pub(super) url: &'a str,
    pub(super) has_token: bool,
}

impl Recording {
    /// Reads a file, line by line.
    pub(super) fn open(path: &Path, against: Against<'_>) -> anyhow::Result<Self> {
        let shown = plain(&path.display().to_string());
        let file = File::open(path).with_context(|| format!("cannot read `{shown}`"))?;
        if !file.metadata().is_ok_and(|file| file.is_file()) {
            let hint = "`daylight tail --all --out FILE` writes one";
            return Err(Failure::usage(format!("`{shown}` is not a file"), hint).into());
        }
        let recording = Self::read(BufReader::with_capacity(1 << 18, file), against);
        recording.with_context(|| format!("cannot read `{shown}`"))
    }

    /// Reads lines. One that is too long, or no event, is counted and passed over.
    pub(super) fn read(mut lines: impl BufRead, against: Against<'_>) -> anyhow::Result<Self> {
        let (mut recording, mut line, mut number) = (Self::default(), Vec::new(), 0);
        loop {
            line.clear();
            number += 1;
            if lines.by_ref().take(LINE_MAX as u64 + 1).read_until(b'\n', &mut line)? == 0 {
                break;
            }
            let is_whole = line.last() == Some(&b'\n') || line.len() <= LINE_MAX;
            if !is_whole {
                lines.skip_until(b'\n')?;
            }
            let text = line.trim_ascii();
            match line::read(text).filter(|_| is_whole) {
                Some(line) => recording.take(line, against)?,
                None if text.is_empty() => {}
                None => recording.malformed(number),
            }
        }
        recording.lost = recording.lost.saturating_add(recording.losing);
        recording.infer_tokens(against.has_token);
        // Events are written when they end.
        recording.requests.sort_by_key(|request| request.at);
        Ok(recording)
    }

    fn take(&mut self, line: Line<'_>, against: Against<'_>) -> anyhow::Result<()> {
        match line {
            Line::Lost(lost) => self.losing = lost,
            Line::Sampled => self.sampled += 1,
            Line::Broken => {
                self.gaps += 1;
                self.lost = self.lost.saturating_add(std::mem::take(&mut self.losing));
            }
            Line::Silent => self.gaps += 1,
            Line::Other => {}
            Line::Event(event) => {
                self.sampled += u64::from(event.is_of_sample());
                self.note_token(&event);
                if event.kind == "job" {
                    self.jobs += 1;
                } else if let Some(why) = LeftOut::of(&event, against.url, against.has_token) {
                    *self.left_out.entry(why).or_default() += 1;
                } else {
                    self.keep(&event)?;
                }
            }
        }
        Ok(())
    }

    fn keep(&mut self, event: &EventLine<'_>) -> anyhow::Result<()> {
        if self.requests.len() == REQUESTS_MAX {
            let hint = "record a shorter time, or only some of the requests: `daylight tail --all --out FILE FILTER`";
            let text = format!("the recording has more than {REQUESTS_MAX} requests that can be sent again");
            return Err(Failure::new(text, Some(hint.to_owned())).into());
        }
        let (repository, file) = (self.names.of(&event.repository), self.names.of(&event.file));
        self.requests.push(Recorded {
            at: event.at().map_or(0, |at| at.0),
            duration: event.duration(),
            bytes: event.bytes_out,
            path: (&*event.path).into(),
            repository,
            file,
            agent: self.names.of(&event.agent),
            status: event.status,
            head: event.method == "HEAD",
            token: !event.token.is_empty(),
            page: event.layer == Layer::Page.as_str(),
        });
        Ok(())
    }

    fn note_token(&mut self, event: &EventLine<'_>) {
        if matches!(&*event.method, "GET" | "HEAD") && event.layer != Layer::Page.as_str() {
            // Lines whose requests are left out have names, too.
            let is_known = self.names.known.contains_key(&*event.repository);
            if !is_known && (self.tokens.len() >= REPOSITORIES_MAX || event.repository.len() > REPOSITORY_MAX) {
                return;
            }
            let repository = self.names.of(&event.repository);
            let tokens = self.tokens.entry(repository).or_default();
            tokens.some |= !event.token.is_empty();
            tokens.open |= event.token.is_empty() && event.status != UNAUTHORIZED;
        }
    }

    /// A page of a private repository is only for requests with a token, and the event does not name it. A repository is one if no request
    /// without a token was answered otherwise.
    fn infer_tokens(&mut self, has_token: bool) {
        let Self { requests, tokens, left_out, .. } = self;
        requests.retain_mut(|request| {
            let private = tokens.get(&request.repository).is_some_and(|tokens| tokens.some && !tokens.open);
            let inferred = request.page && !request.token && private && request.status != UNAUTHORIZED;
            request.token |= inferred;
            let leaves = inferred && !has_token;
            if leaves {
                *left_out.entry(LeftOut::Token).or_default() += 1;
            }
            !leaves
        });
    }

    fn malformed(&mut self, number: u64) {
        self.malformed += 1;
        if self.numbers.len() < NUMBERS_MAX {
            self.numbers.push(number);
        }
    }

    /// The text of a name.
    pub(super) fn text(&self, name: Name) -> &str {
        self.names.all.get(name.0 as usize).map_or("", |text| text)
    }

    /// All recorded requests.
    pub(super) fn recorded(&self) -> u64 {
        self.requests.len() as u64 + self.left_out.values().sum::<u64>()
    }

    /// From the beginning of the first request to that of the last.
    pub(super) fn time(&self) -> Duration {
        let ends = self.requests.first().zip(self.requests.last());
        let millis = ends.map_or(0, |(first, last)| last.at.saturating_sub(first.at));
        Duration::from_millis(millis.unsigned_abs())
    }
}

impl Names {
    fn of(&mut self, text: &str) -> Name {
        if let Some(known) = self.known.get(text) {
            return Name(*known);
        }
        // There are fewer than `REQUESTS_MAX` of each.
        let name = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(text.into());
        self.known.insert(text.into(), name);
        Name(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const AGAINST: Against<'_> = Against { url: "http://127.0.0.1:8080", has_token: false };

    fn event(at: &str, path: &str, more: &str) -> String {
        format!(
            r#"{{"at":"{at}","kind":"request","method":"GET","path":"{path}","status":200,"repository":"m"{more}}}"#
        )
    }

    fn read(text: &str) -> Recording {
        Recording::read(text.as_bytes(), AGAINST).unwrap()
    }

    #[test]
    fn requests_come_in_the_order_in_which_they_began_and_other_lines_are_told_by_number() {
        let long = "x".repeat(LINE_MAX + 2);
        let lines = [
            event("2026-11-01T12:00:02.000Z", "/repository/m/second", ""),
            "not an event".to_owned(),
            event("2026-11-01T12:00:00.500Z", "/repository/m/first", r#","agent":"curl/8""#),
            String::new(),
            long,
            r#"{"at":"2026-11-01T12:00:00Z","kind":"job","method":"collect"}"#.to_owned(),
            event("2026-11-01T12:00:00Z", "http://elsewhere.test/", ""),
            r#"{"half":"#.to_owned(),
        ];
        let recording = read(&lines.join("\n"));
        let paths: Vec<&str> = recording.requests.iter().map(|request| &*request.path).collect();
        assert_eq!(paths, ["/repository/m/first", "/repository/m/second"]);
        assert_eq!((recording.malformed, recording.numbers.as_slice()), (3, &[2, 5, 8][..]));
        assert_eq!((recording.jobs, recording.recorded(), recording.time()), (1, 3, Duration::from_millis(1500)));
        assert_eq!(recording.left_out[&LeftOut::Odd], 1);
        let agents: Vec<&str> = recording.requests.iter().map(|request| recording.text(request.agent)).collect();
        assert_eq!(agents, ["curl/8", ""]);
    }

    #[test]
    fn a_page_of_a_private_repository_was_answered_to_a_token() {
        let event = |repository: &str, status: u16, more: &str| {
            format!(
                r#"{{"at":"2026-11-01T12:00:00Z","kind":"request","method":"GET","path":"/repository/{repository}/a","status":{status},"repository":"{repository}"{more}}}"#
            )
        };
        let (page, token, hosted) = (r#","layer":"page""#, r#","layer":"hosted","token":"ci""#, r#","layer":"hosted""#);
        let lines = [
            event("private", 200, page),
            event("private", 200, token),
            event("private", 401, page),
            event("private", 401, hosted),
            event("mixed", 200, page),
            event("mixed", 200, token),
            event("mixed", 200, hosted),
            event("public", 200, page),
        ];
        let tokens = |has_token: bool| -> Vec<(String, u16, bool)> {
            let against = Against { has_token, ..AGAINST };
            let recording = Recording::read(lines.join("\n").as_bytes(), against).unwrap();
            assert_eq!(recording.recorded(), 8);
            let of = |one: &Recorded| (recording.text(one.repository).to_owned(), one.status, one.token);
            recording.requests.iter().map(of).collect()
        };
        let one = |repository: &str, status: u16, token: bool| (repository.to_owned(), status, token);
        let with = tokens(true);
        assert_eq!(with[0], one("private", 200, true));
        assert_eq!(with.iter().filter(|(_, _, token)| *token).count(), 3);
        assert_eq!(with[4], one("mixed", 200, false));
        let without = tokens(false);
        assert_eq!(without[0], one("private", 401, false));
        assert!(without.len() == 5 && without.iter().all(|(_, _, token)| !token), "{without:?}");
    }

    #[test]
    fn events_that_are_missing_are_known() {
        let lost = |count: u64| format!(r#"{{"lost":{{"lost":{count}}}}}"#);
        let recording = read(&[lost(2), lost(5), r#"{"broken":{"why":""}}"#.into(), lost(1)].join("\n"));
        assert_eq!((recording.lost, recording.gaps, recording.sampled), (6, 1, 0));
        let weighted = event("2026-11-01T12:00:00Z", "/repository/m/a", r#","weight":7"#);
        assert_eq!(read(&[weighted, r#"{"sampled":{}}"#.into()].join("\n")).sampled, 2);
    }

    proptest! {
        #[test]
        fn no_recording_makes_it_panic_or_has_a_request_that_leaves_the_server(
            lines in prop::collection::vec((0..4usize, "\\PC{0,20}", any::<i64>()), 0..9),
        ) {
            let text: Vec<String> = lines
                .into_iter()
                .map(|(kind, text, number)| match kind {
                    0 => text,
                    1 => serde_json::json!({ "kind": "request", "at": text, "method": "GET" }).to_string(),
                    2 => serde_json::json!({
                        "kind": "request", "at": "2026-11-01T12:00:00Z", "method": "GET", "path": text, "status": 200,
                        "duration_ms": number, "bytes_out": number.unsigned_abs(),
                    }).to_string(),
                    _ => serde_json::json!({ "lost": { "lost": number } }).to_string(),
                })
                .collect();
            for request in Recording::read(text.join("\n").as_bytes(), AGAINST).unwrap().requests {
                prop_assert_eq!(client::host_of(&format!("{}{}", AGAINST.url, request.path)), client::host_of(AGAINST.url));
            }
        }
    }
}
