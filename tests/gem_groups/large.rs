//! A group of as many repositories of gems as there may be: 300.

use super::GROUP;
use crate::groups::{make_all, names};
use crate::world::{Gem, Index, Ruby, World};
use serde_json::json;

const MEMBERS: usize = 300;

#[test]
fn a_group_of_300_members_lists_and_answers_what_each_of_them_has() {
    let world = World::start();
    let members = names("team", MEMBERS);
    make_all(&world, members.iter().map(|name| json!({ "name": name, "format": "gem", "kind": "hosted" })));
    world.make(&json!({ "name": GROUP, "format": "gem", "members": members }));
    let (admin, anon) = (world.admin(), world.anon());
    let pushed = [(0, "lamp"), (1, "oil"), (MEMBERS / 2, "wick"), (MEMBERS - 1, "glass")];
    for (at, name) in pushed {
        admin.push(&members[at], &Gem::new(name, "1.0.0")).expect(200);
    }
    // The first member that had a name owns it.
    admin.push(&members[MEMBERS - 1], &Gem::new("lamp", "9.0.0")).expect(200);
    assert_eq!(anon.file(GROUP, "names").expect(200).text(), "---\nglass\nlamp\noil\nwick\n");
    assert!(!anon.file(GROUP, "info/lamp").expect(200).text().contains("9.0.0"));
    Index::read(&anon, GROUP).download(&anon, GROUP);
    let before = anon.file(GROUP, "versions").expect(200).text().to_owned();
    admin.push(&members[MEMBERS - 2], &Gem::new("shade", "1.0.0").needs("glass", ">= 1.0")).expect(200);
    let gained = anon.file(GROUP, "versions").expect(200).text().strip_prefix(&before).unwrap().to_owned();
    assert!(gained.starts_with("shade 1.0.0 ") && gained.lines().count() == 1, "{gained}");
    let needs = anon.file(GROUP, "api/v1/dependencies.json?gems=shade,glass,lamp,nothing").expect(200).json();
    assert_eq!(needs.as_array().unwrap().len(), 3);
    let ruby = Ruby::new();
    let app = ruby.app("app", &world.url(GROUP), "gem 'shade'");
    app.bundle(&["lock"]).good();
    assert!(app.lock().contains("glass (1.0.0)"), "{}", app.lock());
}
