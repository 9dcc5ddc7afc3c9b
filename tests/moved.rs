//! After a move, Bundler resolves as it did on the former server, also with a cooldown of its own.

use crate::origins_imported::{gemstash, import, put};
use crate::world::{Client, FIRST, Gem, Index, Ruby, Upstream, World, hex, write};
use md5::{Digest as _, Md5};
use sha2::Sha256;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tempfile::TempDir;

const DAY: u64 = 86_400;
/// Versions, and how many days ago each was published. Bundler uses the clock of this machine.
const VERSIONS: [(&str, u64); 4] = [("1.0", 2_000), ("1.1", 400), ("1.2", 9), ("1.3", 2)];

fn ago(days: u64) -> u64 {
    (SystemTime::now() - Duration::from_secs(days * DAY)).duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn moment(days: u64) -> jiff::Timestamp {
    jiff::Timestamp::from_second(ago(days).cast_signed()).unwrap()
}

/// The compact index of a server that has the gems with their dates.
fn server_before() -> Upstream {
    let (server, mut info) = (Upstream::start(), "---\n".to_owned());
    for (version, days) in VERSIONS {
        let gem = Gem::new("lamp", version);
        server.file(&format!("/gems/{}", gem.file()), gem.bytes());
        let sum = hex(&Sha256::digest(gem.bytes()));
        info += &format!("{version} |checksum:{sum},created_at:{}\n", moment(days));
    }
    let all = VERSIONS.map(|(version, _)| version).join(",");
    let sum = hex(&Md5::digest(&info));
    server.file("/versions", format!("created_at: 2020-01-01T00:00:00Z\n---\nlamp {all} {sum}\n"));
    server.file("/names", "---\nlamp\n");
    server.file("/info/lamp", info);
    server
}

/// The choice of `bundle lock`.
fn chosen(ruby: &Ruby, source: &str, more: &[&str]) -> String {
    let app = ruby.app("app", source, "gem 'lamp'");
    app.bundle(&[&["lock"], more].concat()).good();
    let lock = app.lock();
    app.unlock();
    let line = lock.lines().find(|line| line.starts_with("    lamp (")).unwrap_or_else(|| panic!("{lock}"));
    line.trim().to_owned()
}

/// `daylight repo set`.
fn set(world: &World, setting: &[&str]) {
    let set = world.command(&["repo", "set", FIRST]).args(setting).output().unwrap();
    assert!(set.status.success(), "{set:?}");
}

fn moved_from(fill: impl FnOnce(&Path)) {
    let (world, folder, before) = (World::start(), TempDir::new().unwrap(), server_before());
    fill(folder.path());
    let ruby = Ruby::with(Client::Newest);
    let choices =
        |source: &str| [&[][..], &["--cooldown", "7"], &["--cooldown", "30"]].map(|more| chosen(&ruby, source, more));
    let expected = choices(&before.url());
    assert_eq!(expected, ["lamp (1.3)", "lamp (1.2)", "lamp (1.1)"]);
    assert_eq!(import(&world, "gems", folder.path(), FIRST), [4, 0, 4, 0, 0]);
    assert_eq!(choices(&world.url(FIRST)), expected);

    // A gem that is pushed after the move is young, and its line is appended.
    let info = || world.anon().file(FIRST, "info/lamp").expect(200).text().to_owned();
    let moved = info();
    world.admin().push(FIRST, &Gem::new("lamp", "2.0")).expect(200);
    assert!(info().starts_with(&moved) && info().len() > moved.len(), "{}", info());
    assert_eq!(Index::read(&world.anon(), FIRST).offered.len(), 5);
    assert_eq!(choices(&world.url(FIRST)), ["lamp (2.0)", "lamp (1.2)", "lamp (1.1)"]);

    set(&world, &["--cooldown", "7d"]);
    let offered: Vec<_> = Index::read(&world.anon(), FIRST).offered.into_keys().map(|(_, version)| version).collect();
    assert_eq!(offered, ["1.0", "1.1", "1.2"], "nothing that is older than the cooldown is hidden");
    assert_eq!(choices(&world.url(FIRST)), ["lamp (1.2)", "lamp (1.2)", "lamp (1.1)"]);
}

#[test]
fn bundler_resolves_after_the_move_of_a_gemstash_as_before() {
    let of_database = |days| moment(days).strftime("%Y-%m-%d %H:%M:%S").to_string();
    let versions = VERSIONS.map(|(version, days)| (version, of_database(days)));
    let versions: Vec<_> = versions.iter().map(|(version, created)| (*version, created.as_str())).collect();
    moved_from(|folder| gemstash(folder, &versions));
}

#[test]
fn bundler_resolves_after_the_move_of_a_geminabox_as_before() {
    moved_from(|folder| {
        write(&folder.join("data/specs.4.8.gz"), "");
        for (version, days) in VERSIONS {
            put(&folder.join(format!("data/gems/lamp-{version}.gem")), &Gem::new("lamp", version).bytes(), ago(days));
        }
    });
}
