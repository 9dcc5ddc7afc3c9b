//! The simulated disk loses unsynced data, and nothing else.

use super::*;

#[test]
fn what_was_not_synced_may_be_lost_and_what_was_is_not() {
    let root = Path::new("/sim");
    let (mut kept, mut lost, mut half) = (false, false, false);
    for seed in 0..64 {
        let disk = SimDisk::new(root);
        disk.create(&root.join("a")).unwrap().write(b"synced").unwrap();
        let mut file = disk.create(&root.join("b")).unwrap();
        file.write(b"one").unwrap();
        file.sync().unwrap();
        disk.open_folder(root).unwrap().sync().unwrap();
        file.write(b"two").unwrap();
        disk.rename(&root.join("b"), &root.join("c")).unwrap();
        disk.restart(Loss::Machine(seed));
        file.write(b"a handle from before the restart").unwrap_err();
        let names = disk.list(root).unwrap();
        assert_eq!(names[0], "a");
        kept |= names.contains(&"c".into());
        lost |= !names.contains(&"c".into());
        for name in &names[1..] {
            let text = disk.open(&root.join(name)).and_then(io::read_to_string).unwrap();
            assert!(text.starts_with("one"));
            half |= text.len() < 6;
        }
    }
    assert!(kept && lost && half);
}

#[test]
fn a_crash_ends_everything_until_the_restart() {
    let root = Path::new("/sim");
    let disk = SimDisk::new(root);
    disk.crash_at(1);
    disk.make_folder(&root.join("a")).unwrap();
    disk.make_folder(&root.join("b")).unwrap_err();
    assert!(disk.crashed() && disk.list(root).is_err() && disk.point(Failpoint::BeforeCommit).is_err());
    disk.restart(Loss::Process);
    assert_eq!(disk.list(root).unwrap(), ["a", "b"]);
}
