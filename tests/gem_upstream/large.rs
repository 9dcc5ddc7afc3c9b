//! A large index of an upstream: the cost of each change for the upstream, the clients and a restart. `DAYLIGHT_LOOKS`
//! sets the number of looks with ten changes each; the default is 20.

use super::REMOTE;
use super::following::Stand;
use super::shelf::good;
use crate::world::{Asked, Parts, Says};
use format::gem::info::md5_hex;
use std::fs;

/// The number of gems. Their index has 1.2 MB.
const GEMS: usize = 25_000;
const KIB: usize = 1 << 10;

/// An upstream with an index of that size, a server that follows it, and a client of the server.
struct Large {
    stand: Stand,
    /// The upstream's file, and the client's copy.
    file: String,
    mine: String,
    minutes: u32,
    changes: usize,
}

/// The cost of a look.
#[derive(Debug)]
struct Cost {
    /// The first byte of each request to the upstream; `None`: the whole file.
    asked: Vec<Option<usize>>,
    /// Bytes of bodies from the upstream.
    upstream: usize,
    /// Bytes of the client's answer, if it was a 206.
    client: Option<usize>,
}

impl Large {
    fn new() -> Self {
        let line = |number: usize| format!("gem-{number} 1.0.0 {}\n", md5(number));
        let lines: String = (0..GEMS).map(line).collect();
        let file = format!("created_at: 2026-11-01T00:00:00Z\n---\n{lines}");
        let mut large = Self { stand: Stand::new(), file, mine: String::new(), minutes: 0, changes: 0 };
        large.publish();
        large.mine = large.stand.get("versions").expect(200).text().to_owned();
        assert!(large.mine == large.file);
        large
    }

    fn publish(&self) {
        self.stand.upstream.says("/versions", good(&self.file).parts(Parts::Right));
    }

    /// A line of a new version.
    fn line(&mut self) -> String {
        self.changes += 1;
        format!("gem-{} 2.{}.0 {}\n", self.changes * 7919 % GEMS, self.changes, md5(GEMS + self.changes))
    }

    /// Inserts a line with at least this number of bytes after it.
    fn insert(&mut self, before_end: usize) {
        let line = self.line();
        let at = self.file[..self.file.len() - before_end].rfind('\n').unwrap() + 1;
        self.file.insert_str(at, &line);
    }

    /// A client requests the rest of its own file two minutes later, as Bundler does.
    fn look(&mut self) -> Cost {
        // The regular work looks as soon as a look is due.
        let before = self.stand.upstream.asked().len();
        self.publish();
        self.minutes += 2;
        let (hours, minutes) = (12 + self.minutes / 60, self.minutes % 60);
        let moment = format!("2026-11-{:02}T{:02}:{minutes:02}:00Z", 2 + hours / 24, hours % 24);
        self.stand.world.set_time(&moment);
        let (range, etag) =
            (format!("bytes={}-", self.mine.len() - 1), format!("\"{}\"", md5_hex(self.mine.as_bytes())));
        let headers = [("Range", range.as_str()), ("If-None-Match", etag.as_str())];
        let answer = self.stand.world.anon().ask("GET", &format!("/repository/{REMOTE}/versions"), &headers, b"");
        let client = match answer.status {
            206 => {
                self.mine += &answer.text()[1..];
                Some(answer.body.len())
            }
            304 => Some(0),
            _ => {
                self.mine = answer.expect(200).text().to_owned();
                None
            }
        };
        let first = |asked: &Asked| asked.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok();
        let asked: Vec<Option<usize>> = self.stand.upstream.asked()[before..].iter().map(first).collect();
        let upstream = asked.iter().map(|first| self.file.len().saturating_sub(first.unwrap_or_default())).sum();
        Cost { asked, upstream, client }
    }

    /// Both files add up to the same versions.
    fn assert_same(&self) {
        let sums = |text: &str| {
            let mut versions = format::gem::upstream::Versions::new();
            versions.push(text.to_owned().into()).unwrap();
            let all = versions.all().map(|(name, mut said)| {
                said.tokens.sort();
                (name, said)
            });
            let mut all: Vec<_> = all.filter(|(_, said)| !said.tokens.is_empty()).collect();
            all.sort_by(|one, other| one.0.cmp(&other.0));
            all
        };
        assert!(sums(&self.mine) == sums(&self.file));
    }

    /// Whether the upstream sent the whole file, also in reply to a range that it does not have.
    fn was_whole(&self, cost: &Cost) -> bool {
        cost.asked.iter().any(|first| first.is_none_or(|first| first >= self.file.len()))
    }

    fn restart(&mut self) {
        self.stand.world.stop();
        self.stand.world.resume();
    }
}

fn md5(number: usize) -> String {
    md5_hex(&number.to_le_bytes())
}

#[test]
fn what_an_upstream_gains_costs_it_and_the_clients_little_more_than_its_lines() {
    let looks = std::env::var("DAYLIGHT_LOOKS").map_or(20, |looks| looks.parse().unwrap());
    let mut large = Large::new();
    let (mut lines, mut upstream, mut client) = (0, 0, 0);
    for _ in 0..looks {
        let gained: String = (0..10).map(|_| large.line()).collect();
        (large.file, lines) = (large.file.clone() + &gained, lines + gained.len());
        let cost = large.look();
        assert_eq!(cost.asked.len(), 1, "{cost:?}");
        (upstream, client) = (upstream + cost.upstream, client + cost.client.unwrap());
    }
    assert!(large.mine == large.file);
    // Each range repeats one byte.
    assert_eq!((upstream, client), (lines + looks, lines + looks));
}

#[test]
fn a_line_that_comes_late_costs_the_upstream_its_last_lines_and_clients_a_line() {
    let mut large = Large::new();
    for before_end in [60, 200 * KIB] {
        let len = large.file.len();
        large.insert(before_end);
        let cost = large.look();
        let [Some(continuation), Some(overlap)] = cost.asked[..] else { panic!("{cost:?}") };
        assert_eq!(continuation, len - 1);
        assert!((256 * KIB..330 * KIB).contains(&(len - overlap)), "{cost:?}");
        assert!(cost.client.is_some_and(|bytes| (1..KIB).contains(&bytes)), "{cost:?}");
        large.assert_same();
        // The next addition is a continuation again.
        let last = large.file.len() - 1;
        large.file = large.file.clone() + &large.line();
        let cost = large.look();
        assert_eq!((cost.asked, cost.client.is_some()), (vec![Some(last)], true));
        large.assert_same();
    }
}

#[test]
fn a_file_that_is_another_each_time_is_fetched_six_times_an_hour_and_its_last_lines_as_often() {
    let mut large = Large::new();
    let (mut wholes, mut overlaps) = (0, 0);
    // The first file was fetched within the same hour.
    for _ in 0..29 {
        large.insert(600 * KIB);
        let cost = large.look();
        assert!(cost.client.is_some_and(|bytes| bytes < KIB * 2), "{cost:?}");
        wholes += cost.asked.iter().filter(|first| first.is_none()).count();
        overlaps += usize::from(cost.asked.len() == 3 || cost.asked.len() == 2 && !cost.asked.contains(&None));
    }
    assert_eq!((wholes, overlaps), (5, 6));
    large.minutes += 60;
    large.look();
    large.assert_same();
}

#[test]
fn a_compaction_costs_clients_nothing_and_a_restart_after_it_no_whole_file() {
    let mut large = Large::new();
    (0..10).for_each(|_| large.file = large.file.clone() + &large.line());
    large.look();
    let mut versions = format::gem::upstream::Versions::new();
    versions.push(large.file.clone().into()).unwrap();
    let lines: Vec<String> = versions.sums().map(|line| line + "\n").collect();
    large.file = format!("created_at: 2026-11-02T00:00:00Z\n---\n{}", lines.concat());
    let cost = large.look();
    assert!(large.was_whole(&cost) && cost.client == Some(0), "{cost:?}");
    large.assert_same();
    for _ in 0..2 {
        let last = large.file.len() - 1;
        large.file = large.file.clone() + &large.line();
        large.restart();
        let cost = large.look();
        assert_eq!(cost.asked, [Some(last)]);
        large.assert_same();
    }
    // Saved results may be lost or damaged. Then the whole file is fetched once.
    large.stand.world.stop();
    let folders = fs::read_dir(large.stand.world.data().join("indexes")).unwrap();
    let files = folders.map(|folder| folder.unwrap().path().join("upstream_file"));
    let file = files.into_iter().find(|file| file.exists()).unwrap();
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, bytes).unwrap();
    large.stand.world.resume();
    let cost = large.look();
    assert!(large.was_whole(&cost), "{cost:?}");
    large.assert_same();
}

#[test]
fn a_server_that_starts_while_its_upstream_is_away_answers_with_what_it_has() {
    let mut large = Large::new();
    large.stand.upstream.says("/versions", Says::status(503));
    large.restart();
    large.stand.at("12:02:00");
    let answer = large.stand.get("versions").expect(200);
    assert!(answer.text() == large.mine);
    assert!(answer.header("daylight-stale").is_some());
    assert!(answer.header("age").is_none_or(|age| age.parse::<u64>().unwrap() < 600), "{:?}", answer.header("age"));
}
