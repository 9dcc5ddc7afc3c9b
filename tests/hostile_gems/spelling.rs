//! Names, versions and platforms that differ only in case: one of them wins, whatever the number of concurrent pushes.

use super::made;
use crate::world::{FIRST, Gem, Index, World};
use std::sync::Barrier;

#[test]
fn a_name_in_another_case_is_refused_while_the_first_has_versions() {
    let world = World::start();
    let admin = world.admin();
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let index = Index::read(&admin, FIRST);
    let push = |lines: &str| admin.push_on(&mut admin.connect().unwrap(), FIRST, &made::gem(lines)).unwrap();
    let said = push("name: Lamp").expect(409);
    assert!(said.text().contains("`Lamp` differs only in case from `lamp`"), "{}", said.text());
    assert_eq!(Index::read(&admin, FIRST), index);
    // The full name of another gem in another case: `lamp-1.0.0` is `lamp` 1.0.0.
    push("name: LAMP-A\nversion: '1'").expect(200);
    push("name: lamp\nversion: '3'\nplatform: a").expect(200);
    push("name: lamp\nversion: '3'\nplatform: A").expect(409);
    push("name: lamp\nversion: 4.rc").expect(200);
    push("name: lamp\nversion: 4.RC").expect(409);
    // No version is published any more. The name may get another spelling, but published files keep theirs.
    for version in ["1.0.0", "4.rc"] {
        admin.yank(FIRST, "lamp", version).expect(200);
    }
    let form = "gem_name=lamp&version=3&platform=a";
    let path = format!("/repository/{FIRST}/api/v1/gems/yank");
    admin.ask("DELETE", &path, &[("Content-Type", "application/x-www-form-urlencoded")], form.as_bytes()).expect(200);
    let said = push("name: Lamp\nversion: 1.0.0").expect(409);
    assert!(said.text().starts_with("A yanked version already exists (lamp-1.0.0)."), "{}", said.text());
    push("name: Lamp\nversion: 1.0.1").expect(200);
    push("name: lamp\nversion: 1.0.2").expect(409);
    Index::read(&admin, FIRST);
}

#[test]
fn of_many_spellings_pushed_at_once_one_wins() {
    let world = World::start();
    let admin = world.admin();
    for round in 0..8 {
        let names: Vec<String> = (0..4_u32)
            .map(|bits| {
                let turn = |at: u32, letter: char| {
                    if bits >> at & 1 == 1 { letter.to_ascii_uppercase() } else { letter }
                };
                format!("{}{}{round}", turn(0, 'l'), turn(1, 'a'))
            })
            .collect();
        let start = Barrier::new(names.len());
        let answers: Vec<u16> = std::thread::scope(|scope| {
            let pushing: Vec<_> = names
                .iter()
                .map(|name| {
                    let (admin, start) = (&admin, &start);
                    scope.spawn(move || {
                        let bytes = made::gem(&format!("name: {name}"));
                        let mut connection = admin.connect().unwrap();
                        start.wait();
                        admin.push_on(&mut connection, FIRST, &bytes).unwrap().status
                    })
                })
                .collect();
            pushing.into_iter().map(|push| push.join().unwrap()).collect()
        });
        let won = answers.iter().filter(|status| **status == 200).count();
        assert_eq!((won, answers.iter().filter(|status| **status == 409).count()), (1, 3), "{answers:?}");
    }
    assert_eq!(Index::read(&admin, FIRST).names.len(), 8);
}
