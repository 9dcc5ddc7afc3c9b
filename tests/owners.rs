//! The owners of a gem: recorded at the first push, changed with `gem owner`, and enforced on request.

use crate::world::{Answer, FIRST, Gem, Person, Ruby, World};
use serde_json::{Value, json};

fn path(below: &str) -> String {
    format!("/repository/{FIRST}/api/v1/{below}")
}

fn owners(world: &World, gem: &str) -> Vec<String> {
    let all = world.anon().get(&path(&format!("gems/{gem}/owners.json"))).expect(200).json();
    all.as_array().unwrap().iter().map(|owner| format!("{} {}", text(owner, "handle"), text(owner, "role"))).collect()
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap()
}

fn change(who: &Person, method: &str, gem: &str, form: &str) -> Answer {
    let headers = [("Content-Type", "application/x-www-form-urlencoded")];
    who.ask(method, &path(&format!("gems/{gem}/owners")), &headers, form.as_bytes())
}

fn enforce(world: &World, owners: &str) {
    world.change(FIRST, &json!({ "owners": owners }));
}

#[test]
fn gem_owner_lists_adds_and_removes_owners() {
    let world = World::start();
    let (url, desk) = (world.url(FIRST), Ruby::new());
    let mira = world.person("mira@example.com", &["write", "add_owner", "remove_owner"], &[]);
    world.person("olaf", &["write"], &[]);
    mira.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let owner = |more: &[&str]| {
        let home = std::env::temp_dir();
        desk.run(&home, mira.secret(), "gem", &[&["owner", "lamp", "--host", &url], more].concat())
    };
    let said = owner(&[]).good();
    assert!(said.contains("Owners for gem: lamp") && said.contains("- mira@example.com"), "{said}");
    let said = owner(&["--add", "olaf"]).good();
    assert!(said.contains("olaf was added as an owner.") && said.contains("- olaf"), "{said}");
    let said = owner(&["--add", "nobody"]).bad();
    assert!(said.contains("Owner could not be found."), "{said}");
    let said = owner(&["--remove", "olaf"]).good();
    assert!(said.contains("Owner removed successfully.") && !said.contains("- olaf"), "{said}");
    let said = owner(&["--remove", "mira@example.com"]).bad();
    assert!(said.contains("Unable to remove owner."), "{said}");
    assert_eq!(owners(&world, "lamp"), ["mira@example.com owner"]);
}

#[test]
fn owners_decide_nothing_until_they_are_enforced() {
    let world = World::start();
    let all = ["write", "delete", "add_owner", "remove_owner", "update_owner"];
    let (mira, olaf) = (world.person("mira", &all, &[]), world.person("olaf", &all, &[]));
    mira.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    olaf.push(FIRST, &Gem::new("lamp", "1.1.0")).expect(200);
    assert_eq!(owners(&world, "lamp"), ["mira owner"]);

    enforce(&world, "enforced");
    let refused = olaf.push(FIRST, &Gem::new("lamp", "1.2.0")).expect(403);
    let words =
        "You do not have permission to push to this gem. Ask an owner to add you with: gem owner lamp --add EMAIL";
    assert!(refused.text().starts_with(words), "{}", refused.text());
    let refused = olaf.yank(FIRST, "lamp", "1.0.0").expect(403);
    assert!(refused.text().starts_with("You do not have permission to delete this gem."), "{}", refused.text());
    change(&olaf, "POST", "lamp", "email=olaf").expect(403);
    olaf.push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);

    change(&mira, "POST", "lamp", "email=olaf&role=maintainer").expect(200);
    olaf.push(FIRST, &Gem::new("lamp", "1.2.0")).expect(200);
    olaf.yank(FIRST, "lamp", "1.2.0").expect(200);
    change(&olaf, "DELETE", "lamp", "email=mira").expect(403);
    let said = change(&mira, "PATCH", "lamp", "email=olaf&role=owner").expect(200);
    assert_eq!(said.text(), "Owner updated successfully.");
    change(&olaf, "DELETE", "lamp", "email=mira").expect(200);
    mira.push(FIRST, &Gem::new("lamp", "1.3.0")).expect(403);
    world.admin().push(FIRST, &Gem::new("lamp", "1.3.0")).expect(200);
    for (form, status) in [("", 400), ("email=mira&role=king", 400), ("email=nobody", 404)] {
        change(&olaf, "POST", "lamp", form).expect(status);
    }
    change(&olaf, "POST", "nothing", "email=mira").expect(404);
    change(&world.anon(), "POST", "lamp", "email=mira").expect(401);
    change(&world.person("reader", &["read"], &[]), "POST", "lamp", "email=mira").expect(403);

    enforce(&world, "recorded");
    mira.push(FIRST, &Gem::new("lamp", "1.4.0")).expect(200);
    world.admin().patch_json(&format!("/api/v1/repositories/{FIRST}"), &json!({ "owners": "maybe" })).expect(400);
}

#[test]
fn owners_outlive_a_rebuild_and_a_restart() {
    let mut world = World::start();
    let mira = world.person("mira", &["write"], &[]);
    mira.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    enforce(&world, "enforced");
    let told = world.anon().get(&path("gems/lamp/owners.yaml")).expect(200);
    assert_eq!(
        told.text(),
        "---\n-\n  \"email\": null\n  \"handle\": \"mira\"\n  \"id\": \"mira\"\n  \"role\": \"owner\"\n"
    );
    world.stop();
    let rebuilt = world.run("rebuild");
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    world.resume();
    assert_eq!(owners(&world, "lamp"), ["mira owner"]);
    world.person("olaf", &["write"], &[]).push(FIRST, &Gem::new("lamp", "1.1.0")).expect(403);
}

#[test]
fn many_first_pushers_of_one_gem_leave_one_owner() {
    let world = World::start();
    let people: Vec<_> = (0..6).map(|at| world.person(&format!("p{at}"), &["write"], &[])).collect();
    enforce(&world, "enforced");
    let answers: Vec<u16> = std::thread::scope(|scope| {
        let push = |at: usize, who: &Person| who.push(FIRST, &Gem::new("lamp", &format!("1.{at}"))).status;
        let pushes: Vec<_> = people.iter().enumerate().map(|(at, who)| scope.spawn(move || push(at, who))).collect();
        pushes.into_iter().map(|push| push.join().unwrap()).collect()
    });
    assert_eq!(answers.iter().filter(|status| **status == 200).count(), 1, "{answers:?}");
    assert_eq!(answers.iter().filter(|status| **status == 403).count(), 5, "{answers:?}");
    assert_eq!(owners(&world, "lamp").len(), 1);
}
