//! A member answers slowly that it lacks files, and is before the member that has them.

use super::{Scene, command, members_said, run, sentence};
use crate::world::Says;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
const ID: &str = "slow-member-first@member:company/partner";

#[test]
fn a_slow_member_before_the_one_that_has_the_files_is_named_with_the_order_that_ends_the_wait() {
    let mut scene = Scene::new(&[], SECOND);
    // 0.8, 1.6 and 10 times the 5 seconds.
    scene.get(&scene.releases(4, "a"), 4, 200);
    scene.silent("slow-member-first");
    scene.get(&scene.releases(4, "b"), 4, 200);
    let found = scene.first(ID);
    assert!(sentence(&found).contains("8 files"), "{}", sentence(&found));
    scene.get(&scene.releases(42, "c"), 21, 200);
    let found = scene.first(ID);
    let lost = found["lost_s_per_hour"].as_f64().unwrap();
    assert!((12.0 * 45.0..12.0 * 75.0).contains(&lost), "{found:#}");
    assert!(sentence(&found).starts_with("requests through `company` waited "), "{}", sentence(&found));
    assert!(sentence(&found).contains("`partner` had none of the 50 files"), "{}", sentence(&found));
    assert_eq!(command(&found), "daylight repo set company --member ours --member central --member partner --preview");

    // The preview that the sentence names, then the change itself.
    let preview = run(&scene.world, &found, "--preview");
    assert!(preview.ends_with("nothing was changed\n"), "{preview}");
    run(&scene.world, &found, "");
    let paths = scene.releases(10, "d");
    for path in &paths {
        let said = members_said(&scene.world, path);
        assert!(said.starts_with("ours:not_found central:hit"), "{said}");
    }
    let after = scene.look().into_iter().find(|finding| finding["id"] == ID).unwrap();
    assert!(after["lost_s_per_hour"].as_f64().unwrap() <= lost, "nothing was added: {after:#}");
    assert!(sentence(&after).ends_with(sentence(&found)), "it tells what was seen: {after:#}");
    assert_eq!(after["changes"], found["changes"], "it tells what was advised");
}

#[test]
fn a_slow_member_with_names_of_its_own_is_asked_for_these_alone() {
    let mut scene = Scene::new(&[], SECOND);
    let own = "com/partner/oil/1.0/oil-1.0.jar".to_owned();
    scene.partner.file(&format!("/{own}"), "oil");
    scene.get(&[own], 1, 200);
    scene.get(&scene.releases(12, "a"), 12, 200);
    let found = scene.first(ID);
    assert_eq!(command(&found), "daylight repo set partner --only 'com.partner*' --preview");
    run(&scene.world, &found, "--preview");
    run(&scene.world, &found, "");
    let asked = scene.partner.total();
    scene.get(&scene.releases(3, "b"), 3, 200);
    assert_eq!(scene.partner.total(), asked, "it is not asked for names of others");
    let other = "com/partner/lamp/1.0/lamp-1.0.jar";
    scene.partner.file(&format!("/{other}"), "theirs");
    scene.central.file(&format!("/{other}"), "of somebody");
    assert_eq!(scene.world.anon().file("company", other).expect(200).text(), "theirs", "nobody takes over its names");
}

#[test]
fn a_member_that_is_as_quick_as_the_others_or_has_the_files_is_not_named() {
    let mut scene = Scene::new(&[], Duration::ZERO);
    scene.get(&scene.releases(60, "a"), 4, 200);
    let has = scene.releases(6, "b");
    has.iter().for_each(|path| scene.partner.says(&format!("/{path}"), Says::file("theirs").after(SECOND)));
    scene.get(&has, 6, 200);
    scene.silent("slow-member-first");
}
