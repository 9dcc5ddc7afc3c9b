//! Random histories of an upstream, of policies and of the clock, with clients that read the log. After each step every
//! client has exactly the visible versions, whatever log it had before. `PROPTEST_CASES` sets the number of histories.

use super::*;
use crate::format::Format;
use crate::gem::upstream::listing::Lines;
use crate::index::incremental_index::IndexSource;
use crate::index::rope::form::Mark;
use crate::policy::package_version::{PackageVersion, Since};
use crate::record::{ExceptionRecord, PolicyRecord, RepositoryRecord};
use bytes::Bytes;
use format::gem::info::{moment, render};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use store::{Digest, Origin, RepositoryId, RepositoryKind, Seq};

const NAMES: u8 = 4;
const VERSIONS: u8 = 5;
const HOUR: i64 = 3_600_000;
/// When the upstream's file was written.
const WRITTEN: &str = "2026-11-01T00:00:00Z";

/// An upstream, and the state that a look has of it.
#[derive(Default)]
struct Upstream {
    listing: Listing,
    log: Log,
    /// The lines of each `/info`, in order, and the first sight of each version.
    infos: BTreeMap<String, Vec<(String, u32)>>,
    seen: BTreeMap<(String, String), i64>,
    changes: u32,
    changed: BTreeSet<String>,
    rows: u64,
}

impl Upstream {
    fn begin(&mut self, at: i64) {
        let mut lines = format!("created_at: {WRITTEN}\n---\n");
        let written = moment(WRITTEN).unwrap() * 1000;
        for name in 0..NAMES {
            let name = format!("gem{name}");
            let tokens: Vec<String> = (0..name.as_bytes()[3] % 3).map(|version| format!("{version}.0")).collect();
            if tokens.is_empty() {
                continue;
            }
            for token in &tokens {
                self.infos.entry(name.clone()).or_default().push((token.clone(), 0));
                self.seen.insert((name.clone(), token.clone()), written);
            }
            lines.push_str(&format!("{name} {} {}\n", tokens.join(","), self.md5(&name)));
        }
        self.add(&lines, at, Lines::Relayed, true);
    }

    fn add(&mut self, lines: &str, at: i64, of: Lines, first: bool) {
        self.listing.add(Bytes::copy_from_slice(lines.as_bytes()), Millis(at), of, first).unwrap();
        self.log.add(lines.as_bytes()).unwrap();
        self.rows += 1;
    }

    fn md5(&self, name: &str) -> String {
        md5_hex(&self.info(name, |_| true))
    }

    fn info(&self, name: &str, seen: impl Fn(&str) -> bool) -> Vec<u8> {
        let lines = self.infos.get(name).into_iter().flatten().filter(|(token, _)| seen(token));
        render(lines.map(|(token, content)| format!("{token} |checksum:{content}")))
    }

    fn change(&mut self, kind: u8, name: u8, version: u8, at: i64) {
        let (name, token) = (format!("gem{}", name % NAMES), format!("{}.0", version % VERSIONS));
        self.changes += 1;
        let content = self.changes;
        let info = self.infos.entry(name.clone()).or_default();
        let listed = info.iter().position(|(listed, _)| *listed == token);
        let mut of = Lines::Relayed;
        let said = match (kind % 4, listed) {
            (0..2, None) => {
                // Two changes between two looks have one line if the log is our own.
                if kind & 4 > 0 {
                    of = Lines::Made;
                    info.first_mut().into_iter().for_each(|(_, first)| *first = content);
                }
                info.push((token.clone(), content));
                self.seen.insert((name.clone(), token.clone()), at);
                token
            }
            (2, Some(place)) => {
                info.remove(place);
                format!("-{token}")
            }
            // Other bytes of a version. Our own log reports them with the last listed version, whose age does not
            // change.
            (3, Some(place)) => {
                of = Lines::Made;
                info[place].1 = content;
                let (last, _) = info.last().unwrap().clone();
                format!("-{last},{last}")
            }
            _ => return,
        };
        let md5 = self.md5(&name);
        self.add(&format!("{name} {said} {md5}\n"), at, of, false);
        self.changed.insert(name);
    }

    /// Whether a version is visible.
    fn shows(&self, name: &str, token: &str, view: View<'_>) -> bool {
        let since = Since::FirstSeen(Millis(self.seen[&(name.to_owned(), token.to_owned())]));
        let (package, version) = (name.into(), token.into());
        view.rules
            .hides(&PackageVersion { format: Format::Gem, package, version, since, upstream: true }, view)
            .is_none()
    }
}

fn rules(kind: u8, now: i64) -> Rules {
    let mut policy = PolicyRecord::default();
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    if kind & 1 > 0 {
        policy.cooldown_s = Some(2 * 3600);
    }
    policy.deny = match (kind >> 1) % 4 {
        0 => Vec::new(),
        1 => texts(&["gem1"]),
        2 => texts(&["gem1:1.*", "gem2:0.0"]),
        _ => texts(&["*:2.0"]),
    };
    match (kind >> 3) % 4 {
        0 => policy.allow = texts(&["gem0", "gem1", "gem2:1.0"]),
        1 => policy.private_prefixes = texts(&["gem3"]),
        2 => {
            policy.exceptions = vec![ExceptionRecord {
                package: "gem2".into(),
                why: String::new(),
                who: String::new(),
                made: Millis(now),
                since: None,
                until: Some(Millis(now + HOUR)),
            }];
        }
        _ => policy.shared = texts(&["gem0"]),
    }
    let mut record = RepositoryRecord::new("gems", "gem", RepositoryKind::Remote, Millis(0));
    record.policy = Some(Box::new(policy));
    Rules::of(&record, Format::Gem)
}

/// A client: its copy of the log, and its `/info` files.
#[derive(Default)]
struct Reader {
    text: Vec<u8>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Reader {
    /// Reads the log, and each file that the log reports as changed. Returns the names of the fetched files.
    fn read(&mut self, text: &[u8], info: impl Fn(&str) -> Vec<u8>) -> Vec<String> {
        self.text = text.to_vec();
        let said = says(text);
        let mut fetched = Vec::new();
        for (name, (_, md5)) in said {
            if self.files.get(&name).is_none_or(|file| md5_hex(file) != md5) {
                self.files.insert(name.clone(), info(&name));
                fetched.push(name);
            }
        }
        fetched
    }
}

/// The versions that follow from lines, as clients read them.
fn says(text: &[u8]) -> BTreeMap<String, (Vec<String>, String)> {
    let text = String::from_utf8(text.to_vec()).unwrap();
    let (_, lines) = text.split_once("---\n").unwrap();
    let mut said: BTreeMap<String, (Vec<String>, String)> = BTreeMap::new();
    for line in lines.lines() {
        let fields: Vec<&str> = line.split(' ').collect();
        let (tokens, md5) = said.entry(fields[0].to_owned()).or_default();
        for token in fields[1].split(',') {
            match token.strip_prefix('-') {
                Some(gone) => tokens.retain(|token| *token != gone),
                None => tokens.push(token.to_owned()),
            }
        }
        *md5 = fields[2].to_owned();
    }
    said
}

/// Brings the log up to date as a request does.
fn update(log: &mut ViewLog, upstream: &mut Upstream, learned: &Learned, view: View<'_>) -> Vec<u8> {
    let rules = ViewRules { members: [(RepositoryId(1), view.rules.clone())].into(), ..ViewRules::default() };
    let of = made_of("1", 0, &rules);
    let changed = std::mem::take(&mut upstream.changed);
    let origin = Origin::new(RepositoryId(1), &[]);
    let told = learned.news(log.heard(origin));
    match (log.names(&of, &rules, view.now, None), told.names) {
        (Names::These(names), Some(told)) => {
            let names = &(&names | &told) | &changed;
            touch(log, &names, &upstream.listing, learned, view);
        }
        _ => {
            let was_read = upstream.rows.is_multiple_of(2);
            touch_all(log, &upstream.listing, upstream.log.clone(), was_read, learned, view).unwrap();
        }
    }
    log.hear(origin, told.until);
    log.settle(of, rules, [(RepositoryId(1), Seq(upstream.rows))], view.now).unwrap().pieces.concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn each_client_has_what_may_be_seen_whatever_it_read_before_and_reads_only_what_was_added(
        steps in proptest::collection::vec((any::<[u8; 4]>(), any::<u8>()), 1..60),
    ) {
        let (mut upstream, mut log, mut learned) = (Upstream::default(), ViewLog::default(), Learned::default());
        let (mut now, mut chosen) = (1_800_000_000_000_i64, 0);
        upstream.begin(now);
        let mut set = rules(chosen, now);
        let (mut often, mut seldom) = (Reader::default(), Reader::default());
        for ([kind, name, version, _], reads) in steps {
            match kind % 8 {
                0..4 => upstream.change(kind >> 3, name, version, now),
                4 => now += i64::from(name) * HOUR / 64,
                5 => {
                    chosen = version;
                    set = rules(chosen, now);
                }
                6 => {
                    if let Some(written) = IndexSource::write(&log, Mark { through: Seq(1), row: Digest([0; 32]) }) {
                        log = <ViewLog as IndexSource>::read(written.concat().into()).unwrap().0;
                        learned = Learned::default();
                    }
                }
                _ => now += 60_000,
            }
            let view = View { as_of: None, exceptions_by: None, now: Millis(now), rules: &set };
            let text = update(&mut log, &mut upstream, &learned, view);
            prop_assert!(text.starts_with(&often.text), "{}\n---\n{}", String::from_utf8_lossy(&often.text), String::from_utf8_lossy(&text));
            let shown = |name: &str| upstream.info(name, |token| upstream.shows(name, token, view));
            for (name, (tokens, _)) in says(&text) {
                let seen = |token: &&str| upstream.shows(&name, token, view);
                let all = upstream.infos.get(&name).into_iter().flatten().map(|(token, _)| token.as_str());
                let expected: BTreeSet<&str> = all.filter(seen).collect();
                prop_assert_eq!(tokens.iter().map(String::as_str).collect::<BTreeSet<_>>(), expected, "{}", name);
            }
            let mut fetched = often.read(&text, shown);
            if reads % 4 == 0 {
                fetched.extend(seldom.read(&text, shown));
                prop_assert!(seldom.files.iter().all(|(name, file)| *file == shown(name)));
            }
            prop_assert!(often.files.iter().all(|(name, file)| *file == shown(name)), "{}", String::from_utf8_lossy(&text));
            // The MD5 of a file becomes known when a client requests it, at random.
            for name in fetched.iter().filter(|_| reads % 3 == 0) {
                let listed = upstream.listing.gem(name).unwrap();
                let all: Vec<&str> = listed.versions.iter().map(|version| version.token.as_str()).collect();
                let seen: Vec<&str> = all.iter().copied().filter(|token| upstream.shows(name, token, view)).collect();
                if !seen.is_empty() && seen.len() < all.len() {
                    learned.learn(name, basis(&set, name, &seen, &listed.md5), md5_hex(&shown(name)));
                }
            }
        }
    }
}
