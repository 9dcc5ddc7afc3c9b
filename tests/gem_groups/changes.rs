//! The cost of each kind of change for readers of a group's `/versions`: a partial reply, hardly larger than the
//! changed lines.

use super::GROUP;
use crate::world::{FIRST, Gem, Parts, Says, Upstream, World};
use format::gem::info::md5_hex;
use format::gem::upstream::{Said, Versions};
use serde_json::{Value, json};
use std::fs;

/// The number of gems, enough for a `/versions` of several pieces.
const GEMS: usize = 4_000;
const PUBLIC: &str = "public";
const PAID: &str = "paid";
const OPEN: &str = "open-group";

fn md5(text: &str) -> String {
    md5_hex(text.as_bytes())
}

/// A file of `/versions` with one line for each of these versions.
fn index(versions: impl IntoIterator<Item = (String, &'static str)>) -> String {
    let lines =
        versions.into_iter().map(|(name, version)| format!("{name} {version} {}\n", md5(&format!("{name} {version}"))));
    format!("created_at: 2026-11-01T00:00:00Z\n---\n{}", lines.collect::<String>())
}

/// A server with a hosted repository, two remote ones and two groups of them, of which one has a policy.
struct Shop {
    public: Upstream,
    paid: Upstream,
    world: World,
    file: String,
    /// Minutes since the beginning.
    minutes: u64,
}

impl Shop {
    fn new() -> Self {
        let file = index((0..GEMS).map(|number| (format!("gem-{number}"), "1.0.0")));
        let world = World::start_in_conformance(&[]);
        let mut shop = Self { public: Upstream::start(), paid: Upstream::start(), world, file, minutes: 0 };
        shop.publish();
        let paid = (0..300).map(|number| (format!("paid-{number}"), "2.0.0"));
        let shared = (0..20).map(|number| (format!("gem-{}", number * 7), "9.0.0"));
        shop.paid.says("/versions", whole(&index(paid.chain(shared))));
        shop.pass(0);
        for (name, upstream) in [(PUBLIC, &shop.public), (PAID, &shop.paid)] {
            let remote = json!({ "urls": [upstream.url()] });
            shop.world.make(&json!({ "name": name, "format": "gem", "kind": "remote", "remote": remote }));
        }
        shop.world.admin().push(FIRST, &Gem::new("ours", "1.0.0")).expect(200);
        for name in [OPEN, GROUP] {
            let members = [FIRST, PUBLIC];
            shop.world.make(&json!({ "name": name, "format": "gem", "kind": "group", "members": members }));
        }
        shop
    }

    fn publish(&self) {
        self.public.says("/versions", whole(&self.file));
    }

    /// Appends a line to the public upstream.
    fn gain(&mut self, line: &str) {
        self.file = format!("{}{line} {}\n", self.file, md5(line));
        self.publish();
    }

    /// Advances the clock by this number of minutes.
    fn pass(&mut self, minutes: u64) {
        self.minutes += minutes;
        let (days, hours, minutes) = (2 + self.minutes / 1440, self.minutes / 60 % 24, self.minutes % 60);
        let (moment, path) =
            (format!("2026-11-{days:02}T{hours:02}:{minutes:02}:00Z"), format!("/repository/{FIRST}/set_time"));
        self.world.anon().ask("POST", &path, &[("Content-Type", "text/plain")], moment.as_bytes()).expect(200);
    }

    fn set(&self, name: &str, settings: &Value) {
        self.world.admin().patch_json(&format!("/api/v1/repositories/{name}"), settings).expect(200);
    }

    fn readers(&self) -> [Reader; 2] {
        [OPEN, GROUP].map(|group| Reader::new(&self.world, group))
    }
}

/// An upstream's file, with its MD5 as ETag and with support for ranges.
fn whole(text: &str) -> Says {
    Says::bytes(text).header("ETag", &format!("\"{}\"", md5(text))).parts(Parts::Right)
}

/// A client that reads the appended part of a group's file, as Bundler does.
struct Reader {
    group: &'static str,
    file: String,
}

impl Reader {
    fn new(world: &World, group: &'static str) -> Self {
        let file = world.anon().file(group, "versions").expect(200).text().to_owned();
        Self { group, file }
    }

    fn ask(&self, world: &World) -> crate::world::Answer {
        let (path, tag) = (format!("/repository/{}/versions", self.group), format!("\"{}\"", md5(&self.file)));
        let range = format!("bytes={}-", self.file.len() - 1);
        world.anon().ask("GET", &path, &[("Range", &range), ("If-None-Match", &tag)], b"")
    }

    /// The names in the appended lines. Their MD5s are checked elsewhere. Fails if the reply is not partial, or if it
    /// is more than one and a half times as long as the lines that lead from the client's state to the new one.
    #[track_caller]
    fn news(&mut self, world: &World) -> Vec<String> {
        let answer = self.ask(world);
        if answer.status == 304 {
            return Vec::new();
        }
        let answer = answer.expect(206);
        let before = read(&self.file);
        self.file.push_str(&answer.text()[1..]);
        assert_eq!(answer.header("etag").unwrap(), format!("\"{}\"", md5(&self.file)));
        let changed = changes(&before, &read(&self.file));
        assert!(2 * answer.body.len() <= 3 * changed, "{} bytes for {changed}: {}", answer.body.len(), answer.text());
        answer.text().lines().skip(1).map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
    }
}

fn read(text: &str) -> Versions {
    let mut versions = Versions::new();
    versions.push(text.to_owned().into()).unwrap();
    versions
}

/// The size of the lines that lead from one file to the other.
fn changes(before: &Versions, after: &Versions) -> usize {
    let line = |(name, said): (String, Said)| said.line_after(&name, before.said(&name).as_ref());
    after.all().filter_map(line).map(|line| line.len() + 1).sum()
}

#[test]
fn a_push_a_yank_a_denial_and_a_claim_cost_their_lines() {
    let mut shop = Shop::new();
    let [mut open, mut group] = shop.readers();
    for reader in [&mut open, &mut group] {
        // The file begins with the bytes of the public upstream, which costs neither memory nor time.
        assert!(reader.file.starts_with(&shop.file) && reader.file.len() == shop.file.len() + "ours 1.0.0 ".len() + 33);
        assert_eq!(reader.news(&shop.world), [""; 0]);
    }
    let admin = shop.world.admin();
    admin.push(FIRST, &Gem::new("ours", "1.1.0")).expect(200);
    admin.push(FIRST, &Gem::new("another", "1.0.0")).expect(200);
    assert_eq!(open.news(&shop.world), ["another 1.0.0", "ours 1.1.0"]);
    admin.yank(FIRST, "ours", "1.0.0").expect(200);
    assert_eq!(open.news(&shop.world), ["ours -1.0.0"]);
    shop.gain("gem-7 1.1.0");
    shop.pass(2);
    assert_eq!(open.news(&shop.world), ["gem-7 1.1.0"]);
    // The first policy of a group, another one, and none again.
    assert_eq!(group.news(&shop.world).len(), 3);
    shop.set(GROUP, &json!({ "include_hosted": true, "policy": { "deny": ["gem-8"] } }));
    assert_eq!(group.news(&shop.world), ["gem-8 -1.0.0"]);
    shop.set(GROUP, &json!({ "include_hosted": true, "policy": { "deny": ["gem-8", "ours:1.1.0"] } }));
    assert_eq!(group.news(&shop.world), ["ours -1.1.0"]);
    shop.set(GROUP, &json!({ "include_hosted": true, "policy": { "deny": null } }));
    assert_eq!(group.news(&shop.world), ["gem-8 1.0.0", "ours 1.1.0"]);
    // The same for the policies of a member.
    shop.set(PUBLIC, &json!({ "include_hosted": true, "policy": { "deny": ["gem-9"] } }));
    assert_eq!(group.news(&shop.world), ["gem-9 -1.0.0"]);
    shop.set(FIRST, &json!({ "claims": ["gem-10"] }));
    assert_eq!(group.news(&shop.world), ["gem-10 -1.0.0"]);
    assert_eq!(open.news(&shop.world), ["gem-10 -1.0.0", "gem-9 -1.0.0"]);
    shop.set(FIRST, &json!({ "claims": [] }));
    assert_eq!(open.news(&shop.world), ["gem-10 1.0.0"]);
}

#[test]
fn members_that_are_added_moved_or_removed_cost_the_lines_that_change() {
    let shop = Shop::new();
    let [mut open, mut group] = shop.readers();
    shop.set(GROUP, &json!({ "members": [FIRST, PUBLIC, PAID] }));
    let news = group.news(&shop.world);
    assert!(
        news.len() == 300 && news.iter().all(|line| line.starts_with("paid-") && line.ends_with(" 2.0.0")),
        "{news:?}"
    );
    shop.set(GROUP, &json!({ "members": [FIRST, PAID, PUBLIC] }));
    let news = group.news(&shop.world);
    assert!(news.len() == 20 && news.iter().all(|line| line.ends_with(" -1.0.0,9.0.0")), "{news:?}");
    shop.set(GROUP, &json!({ "members": [PAID, PUBLIC] }));
    assert_eq!(group.news(&shop.world), ["ours -1.0.0"]);
    shop.set(GROUP, &json!({ "members": [FIRST, PUBLIC] }));
    assert_eq!(group.news(&shop.world).len(), 321);
    assert_eq!(open.news(&shop.world), [""; 0]);
    assert!(read(&group.file).said("gem-7") == read(&open.file).said("gem-7"));
}

#[test]
fn the_end_of_a_cooldown_costs_its_line_at_its_moment() {
    let mut shop = Shop::new();
    let [_, mut group] = shop.readers();
    // All listed versions are eight days old.
    shop.pass(8 * 1440);
    shop.set(GROUP, &json!({ "include_hosted": true, "policy": { "cooldown_s": 7 * 86_400 } }));
    assert_eq!(group.news(&shop.world), [""; 0]);
    shop.gain("gem-7 1.1.0");
    shop.pass(2);
    assert_eq!(group.news(&shop.world), [""; 0]);
    shop.pass(7 * 1440 - 2);
    assert_eq!(group.news(&shop.world), [""; 0]);
    shop.pass(2);
    assert_eq!(group.news(&shop.world), ["gem-7 1.1.0"]);
    shop.pass(1440);
    assert_eq!(group.news(&shop.world), [""; 0]);
}

#[test]
fn a_compaction_of_an_upstream_costs_clients_the_lines_of_what_it_took_away() {
    let mut shop = Shop::new();
    let [mut open, mut group] = shop.readers();
    shop.set(GROUP, &json!({ "include_hosted": true, "policy": { "deny": ["gem-8"] } }));
    assert_eq!(group.news(&shop.world), ["gem-8 -1.0.0"]);
    (0..50).for_each(|number| shop.gain(&format!("gem-{number} 1.1.0")));
    shop.pass(2);
    assert_eq!((open.news(&shop.world).len(), group.news(&shop.world).len()), (50, 49));
    // The file is compacted to one line for each name, without one name that has no versions left.
    let before = read(&shop.file);
    let sums = before.sums().filter(|line| !line.starts_with("gem-100 ")).map(|line| line + "\n");
    shop.file = format!("created_at: 2026-11-02T12:01:00Z\n---\n{}", sums.collect::<String>());
    shop.publish();
    shop.pass(2);
    for reader in [&mut open, &mut group] {
        assert_eq!(reader.news(&shop.world), ["gem-100 -1.0.0"]);
    }
    shop.gain("gem-7 1.2.0");
    shop.pass(2);
    for reader in [&mut open, &mut group] {
        assert_eq!(reader.news(&shop.world), ["gem-7 1.2.0"]);
    }
}

#[test]
fn a_restart_costs_clients_nothing_and_a_lost_file_one_whole() {
    let mut shop = Shop::new();
    let [mut open, mut group] = shop.readers();
    shop.set(GROUP, &json!({ "include_hosted": true, "policy": { "deny": ["gem-8"] } }));
    assert_eq!(group.news(&shop.world), ["gem-8 -1.0.0"]);
    for version in ["1.1.0", "1.2.0"] {
        shop.world.stop();
        shop.gain(&format!("gem-7 {version}"));
        shop.world.resume();
        shop.pass(2);
        for reader in [&mut open, &mut group] {
            assert_eq!(reader.news(&shop.world), [format!("gem-7 {version}")]);
        }
    }
    // The files in `indexes` can be made again, but clients cannot continue from the new ones.
    shop.world.stop();
    for folder in fs::read_dir(shop.world.data().join("indexes")).unwrap() {
        let file = folder.unwrap().path().join("view");
        assert!(!file.exists() || fs::remove_file(file).is_ok());
    }
    shop.world.resume();
    shop.pass(2);
    for reader in [&mut open, &mut group] {
        let answer = reader.ask(&shop.world).expect(200);
        let (before, after) = (read(&reader.file), read(answer.text()));
        assert_eq!(changes(&before, &after), 0);
        reader.file = answer.text().to_owned();
    }
    shop.gain("gem-7 1.3.0");
    shop.pass(2);
    for reader in [&mut open, &mut group] {
        assert_eq!(reader.news(&shop.world), ["gem-7 1.3.0"]);
    }
}
