//! The cost of each kind of change for readers of a group's `/versions`: a partial reply, hardly larger than the
//! changed lines.

use super::GROUP;
use crate::gem_upstream::shelf::{good, md5};
use crate::world::{FIRST, Follower, Gem, Parts, Upstream, World};
use format::gem::upstream::{Said, Versions};
use serde_json::json;
use std::fs;

/// The number of gems, enough for a `/versions` of several pieces.
const GEMS: usize = 4_000;
const PUBLIC: &str = "public";
const PAID: &str = "paid";
const OPEN: &str = "open-group";

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
        shop.paid.says("/versions", good(&index(paid.chain(shared))).parts(Parts::Right));
        shop.pass(0);
        shop.world.remote_of("gem", PUBLIC, &shop.public.url());
        shop.world.remote_of("gem", PAID, &shop.paid.url());
        shop.world.admin().push(FIRST, &Gem::new("ours", "1.0.0")).expect(200);
        [OPEN, GROUP].into_iter().for_each(|name| shop.world.gem_group(name, &[FIRST, PUBLIC]));
        shop
    }

    fn publish(&self) {
        self.public.says("/versions", good(&self.file).parts(Parts::Right));
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
        self.world.set_time(&format!("2026-11-{days:02}T{hours:02}:{minutes:02}:00Z"));
    }

    fn readers(&self) -> [Reader; 2] {
        [OPEN, GROUP].map(|group| Reader(Follower::new(&self.world, group)))
    }
}

/// A client that reads the appended part of a group's file.
struct Reader(Follower);

impl Reader {
    /// The names in the appended lines. Their MD5s are checked elsewhere. Fails if the reply is not partial, or if it
    /// is more than one and a half times as long as the lines that lead from the client's state to the new one.
    #[track_caller]
    fn news(&mut self, world: &World) -> Vec<String> {
        let (before, len) = (read(&self.0.file), self.0.file.len());
        let news = self.0.news(world);
        let (bytes, changed) = (self.0.file.len() - len, changes(&before, &read(&self.0.file)));
        assert!(2 * bytes <= 3 * changed, "{bytes} bytes for {changed}: {news:?}");
        news.into_iter().map(|line| line.rsplit_once(' ').unwrap().0.to_owned()).collect()
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
        assert!(
            reader.0.file.starts_with(&shop.file) && reader.0.file.len() == shop.file.len() + "ours 1.0.0 ".len() + 33
        );
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
    shop.world.change(GROUP, &json!({ "include_hosted": true, "policy": { "deny": ["gem-8"] } }));
    assert_eq!(group.news(&shop.world), ["gem-8 -1.0.0"]);
    shop.world.change(GROUP, &json!({ "include_hosted": true, "policy": { "deny": ["gem-8", "ours:1.1.0"] } }));
    assert_eq!(group.news(&shop.world), ["ours -1.1.0"]);
    shop.world.change(GROUP, &json!({ "include_hosted": true, "policy": { "deny": null } }));
    assert_eq!(group.news(&shop.world), ["gem-8 1.0.0", "ours 1.1.0"]);
    // The same for the policies of a member.
    shop.world.change(PUBLIC, &json!({ "include_hosted": true, "policy": { "deny": ["gem-9"] } }));
    assert_eq!(group.news(&shop.world), ["gem-9 -1.0.0"]);
    shop.world.change(FIRST, &json!({ "claims": ["gem-10"] }));
    assert_eq!(group.news(&shop.world), ["gem-10 -1.0.0"]);
    assert_eq!(open.news(&shop.world), ["gem-10 -1.0.0", "gem-9 -1.0.0"]);
    shop.world.change(FIRST, &json!({ "claims": [] }));
    assert_eq!(open.news(&shop.world), ["gem-10 1.0.0"]);
}

#[test]
fn members_that_are_added_moved_or_removed_cost_the_lines_that_change() {
    let shop = Shop::new();
    let [mut open, mut group] = shop.readers();
    shop.world.change(GROUP, &json!({ "members": [FIRST, PUBLIC, PAID] }));
    let news = group.news(&shop.world);
    assert!(
        news.len() == 300 && news.iter().all(|line| line.starts_with("paid-") && line.ends_with(" 2.0.0")),
        "{news:?}"
    );
    shop.world.change(GROUP, &json!({ "members": [FIRST, PAID, PUBLIC] }));
    let news = group.news(&shop.world);
    assert!(news.len() == 20 && news.iter().all(|line| line.ends_with(" -1.0.0,9.0.0")), "{news:?}");
    shop.world.change(GROUP, &json!({ "members": [PAID, PUBLIC] }));
    assert_eq!(group.news(&shop.world), ["ours -1.0.0"]);
    shop.world.change(GROUP, &json!({ "members": [FIRST, PUBLIC] }));
    assert_eq!(group.news(&shop.world).len(), 321);
    assert_eq!(open.news(&shop.world), [""; 0]);
    assert!(read(&group.0.file).said("gem-7") == read(&open.0.file).said("gem-7"));
}

#[test]
fn a_compaction_of_an_upstream_costs_clients_the_lines_of_what_it_took_away() {
    let mut shop = Shop::new();
    let [mut open, mut group] = shop.readers();
    shop.world.change(GROUP, &json!({ "include_hosted": true, "policy": { "deny": ["gem-8"] } }));
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
    shop.world.change(GROUP, &json!({ "include_hosted": true, "policy": { "deny": ["gem-8"] } }));
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
        let answer = reader.0.ask(&shop.world).expect(200);
        let (before, after) = (read(&reader.0.file), read(answer.text()));
        assert_eq!(changes(&before, &after), 0);
        reader.0.file = answer.text().to_owned();
    }
    shop.gain("gem-7 1.3.0");
    shop.pass(2);
    for reader in [&mut open, &mut group] {
        assert_eq!(reader.news(&shop.world), ["gem-7 1.3.0"]);
    }
}
