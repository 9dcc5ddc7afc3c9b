//! Malicious gems, pushed to the real program: each is refused with a message that a person understands, and leaves no
//! files behind.

mod ambiguous;
mod corpus;
mod cut;
pub(crate) mod made;
mod said;
mod spelling;

use crate::world::{FIRST, Gem, Index, World};
use corpus::corpus;
use std::path::PathBuf;

/// Maximum memory of the whole corpus beyond that of honest pushes: mostly one gemspec of 10 MiB as a tree on each of
/// the threads that read packages. The corpus has gems that unpack to 1 GiB.
const PEAK_MAX: u64 = 128 << 20;

/// Every file in the data folder that a push creates: blobs, temporary files, and segments of the journal.
fn traces(world: &World) -> Vec<(PathBuf, u64)> {
    let made = |path: &PathBuf| path.iter().any(|part| part == "blobs" || part == "segments");
    let size = |path: PathBuf| (path.clone(), path.metadata().unwrap().len());
    world.files().into_iter().filter(made).map(size).collect()
}

/// A server with an honest gem, and the files that it created.
fn honest() -> (World, Vec<(PathBuf, u64)>) {
    let mut world = World::start();
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    world.stop();
    let before = traces(&world);
    world.resume();
    (world, before)
}

#[test]
fn each_hostile_gem_is_refused_in_words_and_leaves_nothing_behind() {
    let (mut world, before) = honest();
    let admin = world.admin();
    let index = Index::read(&admin, FIRST);
    // The cost of any push: the honest gem again, which changes nothing.
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let peak = world.peak();
    let mut wrong = Vec::new();
    for hostile in corpus() {
        let connection = &mut admin.connect().unwrap();
        let answer = admin.push_on(connection, FIRST, &hostile.bytes).unwrap();
        let said = answer.text();
        if answer.status != hostile.status || !said.contains(hostile.says) {
            wrong.push(format!("{}: {} instead of {}: {said}", hostile.what, answer.status, hostile.status));
        }
        // A message of one screen, without control characters for a terminal.
        if said.len() > 1000 || said.contains(|c: char| c.is_control() && c != '\n') || said.contains("panicked") {
            wrong.push(format!("{}: not for a person: {said:?}", hostile.what));
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    let grown = world.peak().saturating_sub(peak);
    println!("the corpus of {} gems raised the peak of memory by {} KiB", corpus().len(), grown >> 10);
    assert!(grown < PEAK_MAX, "its memory grew by {grown} bytes");
    assert_eq!(Index::read(&admin, FIRST), index);
    index.download(&admin, FIRST);
    world.stop();
    assert_eq!(traces(&world), before);
}

#[test]
fn content_is_never_unpacked_so_what_is_in_it_reaches_nobody_s_disk() {
    let mut world = World::start();
    let admin = world.admin();
    let mut symlink = made::header("lib", 0);
    symlink.set_entry_type(tar::EntryType::Symlink);
    symlink.set_link_name("/etc").unwrap();
    symlink.set_cksum();
    let outside =
        made::archive(&[symlink, made::header("/etc/evil", 1), made::header("../evil", 1)], &[b"", b"x", b"x"]);
    let spec = made::spec("").into_bytes();
    for (version, data) in [("1.0", made::gzip(&outside)), ("1.1", made::bomb(1024)), ("1.2", b"no gzip".to_vec())] {
        let metadata = String::from_utf8(spec.clone()).unwrap().replace("2.0.0", version);
        let bytes = made::package(&made::packed(made::gzip(metadata.as_bytes()), data));
        admin.push_on(&mut admin.connect().unwrap(), FIRST, &bytes).unwrap().expect(200);
        let served = admin.get(&format!("/repository/{FIRST}/gems/lamp-{version}.gem")).expect(200);
        assert!(served.body == bytes, "{version} comes back unchanged");
    }
    world.stop();
    assert!(world.files().iter().all(|file| !file.ends_with("evil") && !file.ends_with("lib")));
}
