//! What clients do on two nodes at the same moment is decided once.

use crate::objects::shared;
use crate::sessions::{get, secret, session};
use crate::signin::{codes, guarded};
use crate::world::{Answer, FIRST, Gem, Index, Nodes, ObjectProduct, Person, await_true, each};
use serde_json::{Value, json};
use std::sync::Barrier;

const REPOSITORIES: &str = "/api/v1/repositories";

/// Sends a request through each of these callers at the same moment.
fn at_once(callers: &[Person], send: impl Fn(usize, &Person) -> Answer + Sync) -> Vec<Answer> {
    let (start, send) = (&Barrier::new(callers.len()), &send);
    std::thread::scope(|scope| {
        let send = |(number, caller)| {
            scope.spawn(move || {
                start.wait();
                send(number, caller)
            })
        };
        let sent: Vec<_> = callers.iter().enumerate().map(send).collect();
        sent.into_iter().map(|sent| sent.join().unwrap()).collect()
    })
}

fn statuses(answers: &[Answer]) -> Vec<u16> {
    let mut statuses: Vec<u16> = answers.iter().map(|answer| answer.status).collect();
    statuses.sort_unstable();
    statuses
}

#[test]
fn what_happens_on_several_nodes_is_decided_once() {
    let mut nodes = super::nodes(3, (shared(ObjectProduct::SeaweedFs), "one_truth"), "");
    each!(
        &mut nodes,
        [
            a_code_is_good_once_in_all,
            of_two_changes_of_one_setting_the_later_one_is_told_which_value_it_replaced,
            changes_of_two_settings_of_a_repository_are_both_kept,
            two_nodes_make_no_circle_of_groups,
            a_repository_of_one_name_is_made_once,
            a_version_is_published_once,
            a_session_is_one_on_every_node,
            a_promoted_standby_gets_back_what_was_acknowledged_although_a_machine_is_lost_too,
        ]
    );
}

fn a_code_is_good_once_in_all(nodes: &mut Nodes) {
    let (mira, uri) = guarded(&nodes.node(0).world, "mira");
    let callers: Vec<Person> = nodes.admins().iter().map(|admin| admin.with_secret(mira.secret())).collect();
    let [code, _] = codes(&uri);
    let push = |number: usize, caller: &Person| {
        let gem = Gem::new("guarded", &format!("{number}.0")).bytes();
        caller.ask("POST", &format!("/repository/{FIRST}/api/v1/gems"), &[("OTP", &code)], &gem)
    };
    assert_eq!(statuses(&at_once(&callers, push)), [200, 401, 401]);
    assert_eq!(statuses(&at_once(&callers, push)), [401, 401, 401], "once more");
}

fn of_two_changes_of_one_setting_the_later_one_is_told_which_value_it_replaced(nodes: &mut Nodes) {
    let (admins, path) = (nodes.admins(), format!("{REPOSITORIES}/{FIRST}"));
    for round in 0..5 {
        let value = |number: usize| 100 + 10 * round + number as u64;
        let change = |number, caller: &Person| caller.patch_json(&path, &json!({ "keep_versions": value(number) }));
        let answers = at_once(&admins[..2], change);
        assert_eq!(statuses(&answers), [200, 200]);
        let told = |number: usize| answers[number].json()["difference"].as_str().unwrap().to_owned();
        let replaced = |number: usize| told(number).contains(&value(1 - number).to_string());
        assert_ne!(replaced(0), replaced(1), "{} and {}", told(0), told(1));
        let last = value(usize::from(replaced(1)));
        for admin in &admins {
            assert_eq!(admin.get(&path).expect(200).json()["keep_versions"], last);
        }
    }
}

fn changes_of_two_settings_of_a_repository_are_both_kept(nodes: &mut Nodes) {
    let (admins, path) = (nodes.admins(), format!("{REPOSITORIES}/{FIRST}"));
    for (round, owners) in (0..6).zip(["enforced", "recorded"].into_iter().cycle()) {
        let changes = [json!({ "keep_versions": 1_000 + round }), json!({ "owners": owners })];
        let answers = at_once(&admins[..2], |number, caller| caller.patch_json(&path, &changes[number]));
        assert_eq!(statuses(&answers), [200, 200]);
        for admin in &admins {
            let now = admin.get(&path).expect(200).json();
            assert_eq!((&now["keep_versions"], &now["owners"]), (&json!(1_000 + round), &json!(owners)));
        }
    }
}

fn two_nodes_make_no_circle_of_groups(nodes: &mut Nodes) {
    let admins = nodes.admins();
    for round in 0..4 {
        let [ours, inner, outer] = ["ours", "inner", "outer"].map(|name| format!("{name}-{round}"));
        let make = |wanted: Value| drop(admins[0].post_json(REPOSITORIES, &wanted).expect(201));
        make(json!({ "name": ours, "format": "maven", "kind": "hosted" }));
        for group in [&inner, &outer] {
            make(json!({ "name": group, "format": "maven", "kind": "group", "members": [ours] }));
        }
        let other = [(&inner, &outer), (&outer, &inner)];
        let change = |number: usize, caller: &Person| {
            let (group, member) = other[number];
            caller.patch_json(&format!("{REPOSITORIES}/{group}"), &json!({ "members": [ours, member] }))
        };
        let answers = at_once(&admins[1..], change);
        assert_eq!(statuses(&answers), [200, 400]);
        let refused = answers.iter().find(|answer| answer.status == 400).unwrap();
        assert!(refused.text().contains(" -> "), "{refused:?}");
    }
}

fn a_repository_of_one_name_is_made_once(nodes: &mut Nodes) {
    let wanted = json!({ "name": "twice", "format": "gem", "kind": "hosted" });
    let answers = at_once(&nodes.admins(), |_, caller| caller.post_json(REPOSITORIES, &wanted));
    assert_eq!(statuses(&answers), [201, 409, 409]);
}

fn a_version_is_published_once(nodes: &mut Nodes) {
    let admins = nodes.admins();
    for round in 0..4 {
        let push = |number: usize, caller: &Person| {
            caller.push("twice", &Gem::new("lamp", &format!("{round}.0")).payload(&[number as u8]))
        };
        assert_eq!(statuses(&at_once(&admins, push)), [200, 409, 409]);
    }
    let indexes: Vec<Index> = admins.iter().map(|admin| Index::read(admin, "twice")).collect();
    assert!(indexes.iter().all(|index| *index == indexes[0] && index.offered.len() == 4), "{indexes:?}");
    admins.iter().for_each(|admin| indexes[0].download(admin, "twice"));
}

fn a_session_is_one_on_every_node(nodes: &mut Nodes) {
    let reader = nodes.node(0).world.person("reader", &["read"], &[]);
    let cookie = session(&nodes.node(0).world, &reader);
    let home = get(&nodes.node(1).world, &cookie, "/").expect(200);
    assert!(home.text().contains("reader-web-"), "{}", home.text());
    let form = format!("secret={}", secret(&home));
    let headers = [
        ("Content-Type", "application/x-www-form-urlencoded"),
        ("Sec-Fetch-Site", "same-origin"),
        ("Cookie", &*cookie),
    ];
    nodes.node(2).world.anon().ask("POST", "/sign-out", &headers, form.as_bytes()).expect(303);
    for number in 0..nodes.count() {
        let home = get(&nodes.node(number).world, &cookie, "/").expect(200);
        assert!(!home.text().contains("reader-web-"), "node {number}: {}", home.text());
    }
}

fn a_promoted_standby_gets_back_what_was_acknowledged_although_a_machine_is_lost_too(nodes: &mut Nodes) {
    let (admins, standby) = (nodes.admins(), nodes.postgres.standby());
    for (number, admin) in admins.iter().enumerate() {
        admin.push(FIRST, &Gem::new("lamp", &format!("{number}.0"))).expect(200);
    }
    let (rows, index) = (super::journal(&nodes.postgres), Index::read(&admins[0], FIRST));
    let world = &mut nodes.node(0).world;
    world.kill();
    std::fs::remove_dir_all(world.data()).unwrap();
    nodes.postgres.fail_over(standby);
    nodes.node(0).world.resume();
    await_true("the database has all rows again", || {
        nodes.postgres.sql("SELECT seq FROM daylight.counter") == rows.len().to_string()
    });
    assert_eq!(super::journal(&nodes.postgres), rows);
    for (number, admin) in admins.iter().enumerate() {
        nodes.await_whole(number);
        assert_eq!(Index::read(admin, FIRST), index);
        index.download(admin, FIRST);
    }
    admins[0].push(FIRST, &Gem::new("lamp", "9.0")).expect(200);
    admins.iter().for_each(|admin| drop(admin.file(FIRST, "gems/lamp-9.0.gem").expect(200)));
}
