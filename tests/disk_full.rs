//! A disk that becomes full at any point. Reads continue, pushes get an error about space, calls that free space work,
//! and writing resumes by itself when there is space.

use crate::world::{Gem, Person, TIMEOUT, World};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::io::Write as _;
use std::time::Instant;

const MIB: u64 = 1 << 20;
/// The size of the file system: enough for the databases of an empty server.
const DISK: u64 = 32 * MIB;
const FLOOR: u64 = 2 * MIB;
/// The numbers of free bytes at which the disk counts as full, from none to just below the floor.
const LEFT: [u64; 8] = [0, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 19, MIB, FLOOR - (64 << 10)];

/// A file that fills the disk up to `left` free bytes.
struct Ballast<'a> {
    world: &'a World,
}

impl<'a> Ballast<'a> {
    fn fill(world: &'a World, left: u64) -> Self {
        let ballast = Self { world };
        let mut file = File::create(ballast.path()).unwrap();
        let free = free(world);
        let page = vec![0_u8; 4096];
        for _ in 0..free.saturating_sub(left) / 4096 {
            if file.write_all(&page).is_err() {
                break;
            }
        }
        ballast
    }

    /// The same after some space was freed.
    fn again(self) -> Self {
        let world = self.world;
        drop(self);
        Self::fill(world, 0)
    }

    fn path(&self) -> std::path::PathBuf {
        self.world.data_on_small_disk().join("ballast")
    }
}

impl Drop for Ballast<'_> {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.path());
    }
}

fn free(world: &World) -> u64 {
    let stat = rustix::fs::statvfs(world.data_on_small_disk()).unwrap();
    stat.f_bavail * stat.f_frsize
}

/// The clock of the server, in hours since 2050.
struct Hours<'a> {
    world: &'a World,
    passed: i64,
}

impl Hours<'_> {
    fn pass(&mut self) {
        self.passed += 1;
        let moment = jiff::Timestamp::from_second(2_524_608_000 + self.passed * 3_600).unwrap();
        self.world.set_time(&moment.to_string());
    }

    /// Advances the clock by hours, in each of which the server does its regular work, until this number of bytes is
    /// free.
    fn pass_until_free(&mut self, bytes: u64) {
        let began = Instant::now();
        while free(self.world) < bytes {
            assert!(began.elapsed() < TIMEOUT, "{} bytes are free after {} hours", free(self.world), self.passed);
            self.pass();
        }
    }
}

/// Incompressible bytes.
fn noise(size: usize, seed: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut digest = Sha256::digest(seed);
    while bytes.len() < size {
        bytes.extend_from_slice(&digest);
        digest = Sha256::digest(digest);
    }
    bytes
}

fn is_full(person: &Person, gem: &Gem) {
    let said = person.push("gems-private", gem);
    assert_eq!(said.status, 507, "{}", said.text());
}

#[test]
fn on_a_full_disk_reads_go_on_pushes_are_507_a_token_is_revoked_and_writing_resumes_by_itself() {
    let world = World::start_on_small_disk(DISK, &format!("[store]\nfree_space_floor_bytes = {FLOOR}\n"));
    let admin = world.admin();
    let first = Gem::new("lamp", "1.0.0");
    admin.push("gems-private", &first).expect(200);
    for number in 0..LEFT.len() {
        admin.push("gems-private", &Gem::new("spare", &format!("1.{number}"))).expect(200);
    }
    for (number, left) in LEFT.into_iter().enumerate() {
        let name = format!("thief-{number}");
        let thief = world.person(&name, &["write"], &[]);
        let ballast = Ballast::fill(&world, left);
        is_full(&thief, &Gem::new("wick", &format!("1.{number}")));
        let read = world.anon().file("gems-private", "gems/lamp-1.0.0.gem").expect(200);
        assert_eq!(read.body, first.bytes());
        admin.ask("DELETE", &format!("/api/v1/tokens/{name}"), &[], b"").expect(204);
        assert_eq!(thief.push("gems-private", &Gem::new("oil", "1")).status, 401);
        // A withdrawal frees space later, so it must work without free space.
        admin.yank("gems-private", "spare", &format!("1.{number}")).expect(200);
        drop(ballast);
        admin.push("gems-private", &Gem::new("wick", &format!("1.{number}"))).expect(200);
    }
}

#[test]
fn on_a_full_disk_what_is_purged_or_cleaned_up_gives_its_bytes_back_and_writing_resumes_by_itself() {
    let world = World::start_on_small_disk(
        DISK,
        &format!("[store]\nfree_space_floor_bytes = {FLOOR}\nundo = \"1d\"\ncollect_after = \"1h\"\n"),
    );
    let admin = world.admin();
    let mut hours = Hours { world: &world, passed: 0 };
    for (version, size) in [("1.0", 3 << 20), ("2.0", 4 << 20), ("3.0", 1 << 10)] {
        hours.pass();
        admin.push("gems-private", &Gem::new("lamp", version).payload(&noise(size, version))).expect(200);
    }
    let mut fill = Ballast::fill(&world, 0);
    is_full(&admin, &Gem::new("wick", "1.0"));
    let purge = json!({ "what": "lamp:1.0", "why": "a secret was in it", "apply": true });
    admin.post_json("/api/v1/repositories/gems-private/purge", &purge).expect(200);
    hours.pass_until_free(FLOOR + (64 << 10));
    admin.push("gems-private", &Gem::new("wick", "1.0")).expect(200);
    world.anon().file("gems-private", "gems/lamp-2.0.gem").expect(200);

    fill = fill.again();
    is_full(&admin, &Gem::new("wick", "2.0"));
    admin.patch_json("/api/v1/repositories/gems-private", &json!({ "keep_versions": 1 })).expect(200);
    admin.post_json("/api/v1/cleanup", &json!({ "repositories": ["gems-private"], "apply": true })).expect(200);
    hours.pass_until_free(FLOOR + (64 << 10));
    admin.push("gems-private", &Gem::new("wick", "2.0")).expect(200);
    world.anon().file("gems-private", "gems/lamp-2.0.gem").expect(404);
    world.anon().file("gems-private", "gems/lamp-3.0.gem").expect(200);
    drop(fill);
}

#[test]
fn without_a_floor_a_full_disk_has_room_for_what_frees_space_and_that_frees_it_at_once() {
    let world = World::start_on_small_disk(DISK, "[store]\nfree_space_floor_bytes = 0\n");
    let admin = world.admin();
    let mut hours = Hours { world: &world, passed: 0 };
    for version in ["1.0", "2.0", "3.0"] {
        hours.pass();
        admin.push("gems-private", &Gem::new("lamp", version).payload(&noise(3 << 20, version))).expect(200);
    }
    let thief = world.person("thief", &["write"], &[]);
    let fill = Ballast::fill(&world, 0);
    is_full(&thief, &Gem::new("wick", "1.0").payload(&noise(1 << 20, "wick")));
    admin.ask("DELETE", "/api/v1/tokens/thief", &[], b"").expect(204);
    assert_eq!(thief.push("gems-private", &Gem::new("oil", "1")).status, 401);
    is_full(&admin, &Gem::new("wick", "1.0"));
    let health = world.anon().get("/health/ready").expect(200).text().to_owned();
    assert!(health.contains("degraded: read-only: "), "{health}");
    // A filled disk again: the reserve was used, and other programs took its space.
    let fill = fill.again();
    let purge = json!({ "what": "lamp:1.0", "why": "a secret was in it", "apply": true });
    let purged = admin.post_json("/api/v1/repositories/gems-private/purge", &purge);
    assert!([200, 507].contains(&purged.status), "{}", purged.text());
    drop(fill);
    admin.push("gems-private", &Gem::new("wick", "1.0")).expect(200);
    let fill = Ballast::fill(&world, 0);
    let before = free(&world);
    let purge = json!({ "what": "lamp:2.0", "why": "a secret was in it", "apply": true });
    admin.post_json("/api/v1/repositories/gems-private/purge", &purge).expect(200);
    let purged = free(&world);
    assert!(purged >= before + (3 << 20), "{before} bytes were free, and {purged} are");
    drop(fill);
    admin.push("gems-private", &Gem::new("lamp", "4.0")).expect(200);
    admin.patch_json("/api/v1/repositories/gems-private", &json!({ "keep_versions": 1 })).expect(200);
    let _fill = Ballast::fill(&world, 0);
    let before = free(&world);
    let cleanup = json!({ "repositories": ["gems-private"], "no_undo": true, "apply": true });
    admin.post_json("/api/v1/cleanup", &cleanup).expect(200);
    let cleaned = free(&world);
    assert!(cleaned >= before + (3 << 20), "{before} bytes were free, and {cleaned} are");
    admin.push("gems-private", &Gem::new("wick", "2.0")).expect(200);
    world.anon().file("gems-private", "gems/lamp-3.0.gem").expect(404);
    world.anon().file("gems-private", "gems/lamp-4.0.gem").expect(200);
}

#[test]
fn a_server_starts_on_a_disk_without_a_free_byte_serves_and_says_so() {
    let made = "\"$2\" init --data . > ../made 2>&1;";
    let filled = "cat /dev/zero > ballast 2> ../filled || true;";
    // Without the reserve, for example because it was used.
    for spent in ["", "rm -f reserve;"] {
        let before = format!("{made} {spent} {filled}");
        let world = World::start_on_small_disk_after(&before, DISK, "[store]\nfree_space_floor_bytes = 0\n");
        world.anon().file("gems-private", "versions").expect(200);
        let said = world.admin().push("gems-private", &Gem::new("lamp", "1.0"));
        assert_eq!(said.status, 507, "{}", said.text());
        let health = world.anon().get("/health/ready").expect(200).text().to_owned();
        assert!(health.contains("degraded: read-only: "), "{health}");
        assert!(world.log().contains("free space is below the floor"), "{}", world.log());
        std::fs::remove_file(world.data_on_small_disk().join("ballast")).unwrap();
        world.admin().push("gems-private", &Gem::new("lamp", "1.0")).expect(200);
        world.anon().file("gems-private", "gems/lamp-1.0.gem").expect(200);
    }
}
