//! A disk that is full, at whatever point: reads go on, pushes say that there is no room, what frees space still works, and writing
//! goes on by itself once there is room.

use crate::world::{Gem, Person, World};
use std::fs::File;
use std::io::Write as _;

const MIB: u64 = 1 << 20;
/// Of the whole file system. Large enough for the databases of an empty server.
const DISK: u64 = 32 * MIB;
const FLOOR: u64 = 2 * MIB;
/// So many bytes are free when the disk is called full, from none to just below the floor.
const LEFT: [u64; 8] = [0, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 19, MIB, FLOOR - (64 << 10)];

/// The file that fills the disk up to `left` free bytes.
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
        // What is withdrawn frees space one day, so it needs no free space today.
        admin.yank("gems-private", "spare", &format!("1.{number}")).expect(200);
        drop(ballast);
        admin.push("gems-private", &Gem::new("wick", &format!("1.{number}"))).expect(200);
    }
}
