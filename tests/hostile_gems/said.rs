//! The output of the real `gem` for such gems, and for a version that exists already.

use super::made;
use crate::world::{FIRST, Gem, Ruby, World};

#[test]
fn gem_push_shows_the_reason_and_fails() {
    let world = World::start();
    let (url, desk, admin) = (world.url(FIRST), Ruby::new(), world.admin());
    let mut unknown = made::members(&made::spec(""));
    unknown.push(("evil.sh", b"exit".to_vec()));
    for (bytes, words) in [
        (
            made::gem("platform: current"),
            "There was a problem saving your gem: the uploaded spec has malformed platform",
        ),
        (made::gem("cert_chain: [x]"), "the gemspec has a `cert_chain`, and the package has no signatures"),
        (made::gem("metadata: {wiki_uri: 'ftp://a'}"), "metadata `wiki_uri` must be an http or https link"),
        (made::gem("summary: \"\\e[2J\""), "There was a problem saving your gem: `summary` of the gemspec has control"),
        (
            made::gem("description: &a x\nhomepage: *a"),
            "Pushing gems where there are aliases in the YAML gemspec is no",
        ),
        (made::package(&unknown), "Daylight cannot process this gem."),
    ] {
        let said = desk.push_bytes(&url, admin.secret(), &bytes).bad();
        assert!(said.contains(words), "{words}: {said}");
    }
    let said = desk.push_bytes(&url, admin.secret(), &made::gem("")).good();
    assert!(said.contains("Successfully registered gem: lamp (2.0.0)"), "{said}");
    let said = desk.push_bytes(&url, admin.secret(), &made::gem("")).good();
    assert!(said.contains("Gem was already pushed: lamp (2.0.0)"), "{said}");
    let said = desk.push_bytes(&url, admin.secret(), &made::gem("summary: Another")).bad();
    assert!(said.contains("Repushing of gem versions is not allowed.\nPlease bump the version number"), "{said}");
    let said = desk.push_bytes(&url, admin.secret(), &made::gem("version: '2.0'")).bad();
    assert!(said.contains("lamp-2.0.0"), "2.0 is 2.0.0, and that is named: {said}");
}

#[test]
fn gem_yank_withdraws_one_platform_or_a_prerelease_and_names_what_is_not_there() {
    let world = World::start();
    let (url, desk, admin) = (world.url(FIRST), Ruby::new(), world.admin());
    for gem in [
        Gem::new("lamp", "1.0.0"),
        Gem::new("lamp", "1.0.0").platform("java"),
        Gem::new("lamp", "1.0.0").platform("x86_64-linux"),
        Gem::new("lamp", "2.0.0.rc1"),
    ] {
        admin.push(FIRST, &gem).expect(200);
    }
    let yank = |more: &[&str]| {
        let arguments = [&["yank", "--host", url.as_str()], more].concat();
        // It prints the reply, and its exit code is 0 for any status.
        desk.run(world.data().as_path(), admin.secret(), "gem", &arguments).good()
    };
    let said = yank(&["lamp", "-v", "1.0.0", "--platform", "java"]);
    assert!(said.contains("Successfully deleted gem: lamp (1.0.0-java)"), "{said}");
    let said = yank(&["lamp", "-v", "2.0.0.rc1"]);
    assert!(said.contains("Successfully deleted gem: lamp (2.0.0.rc1)"), "{said}");
    let said = yank(&["lamp", "-v", "1.0.0", "--platform", "mswin32"]);
    assert!(said.contains("The version 1.0.0 does not exist."), "{said}");
    let said = yank(&["nothing", "-v", "1.0.0"]);
    assert!(said.contains("This rubygem could not be found."), "{said}");
    let info = admin.get(&format!("/repository/{FIRST}/info/lamp")).expect(200);
    let left: Vec<&str> = info.text().lines().skip(1).map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(left, ["1.0.0", "1.0.0-x86_64-linux"]);
    let said = admin.push(FIRST, &Gem::new("lamp", "1.0.0").platform("java")).expect(409);
    assert!(
        said.text().starts_with("A yanked version already exists (lamp-1.0.0-java).\nRepushing"),
        "{}",
        said.text()
    );
    // The request of RubyGems 4.1 for a gem of one Ruby ABI.
    let form = "gem_name=lamp&version=1.0.0&platform=x86_64-linux&ruby_abi=3.4";
    let path = format!("/repository/{FIRST}/api/v1/gems/yank");
    admin.ask("DELETE", &path, &[("Content-Type", "application/x-www-form-urlencoded")], form.as_bytes()).expect(404);
}
