//! A gem is found under every name that a client may derive for it. A name that matches two gems matches none.

use crate::world::{FIRST, Gem, Ruby, World, hex};
use sha2::{Digest, Sha256};

fn path(file: &str) -> String {
    format!("/repository/{FIRST}/{file}")
}

#[test]
fn a_gem_is_downloaded_by_the_name_it_was_pushed_under_and_by_those_that_clients_make_of_it() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    let gem = Gem::new("net-oil", "1.0.0").platform("x86_64-linux-gnu");
    admin.push(FIRST, &gem).expect(200);
    for full_name in ["net-oil-1.0.0-x86_64-linux-gnu", "net-oil-1.0.0-x86_64-linux"] {
        let pushed = anon.get(&path(&format!("gems/{full_name}.gem"))).expect(200);
        assert!(pushed.body == gem.bytes());
        assert_eq!(pushed.header("content-type"), Some("application/octet-stream"));
        assert_eq!(pushed.header("content-length"), Some(gem.bytes().len().to_string().as_str()));
        assert_eq!(pushed.header("content-encoding"), None);
        assert!(anon.get(&path(&format!("fetch/actual/gem/{full_name}.gem"))).expect(200).body == gem.bytes());
        anon.get(&path(&format!("quick/Marshal.4.8/{full_name}.gemspec.rz"))).expect(200);
        anon.get(&path(&format!("fetch/actual/gem/{full_name}.gemspec.rz"))).expect(200);
    }
    for nothing in ["net-oil-1.0.0", "net-oil-1.0.0-x86_64-linux-musl", "net-oil-1.0.1-x86_64-linux", "net-oil-1.0.0-"]
    {
        anon.get(&path(&format!("gems/{nothing}.gem"))).expect(404);
        anon.get(&path(&format!("quick/Marshal.4.8/{nothing}.gemspec.rz"))).expect(404);
    }

    // The name of a push takes precedence.
    let plain = Gem::new("net-oil", "1.0.0").platform("x86_64-linux").payload(b"plain");
    admin.push(FIRST, &plain).expect(200);
    assert!(anon.get(&path("gems/net-oil-1.0.0-x86_64-linux.gem")).expect(200).body == plain.bytes());
    assert!(anon.get(&path("gems/net-oil-1.0.0-x86_64-linux-gnu.gem")).expect(200).body == gem.bytes());
}

#[test]
fn a_name_that_would_mean_two_builds_means_none_and_one_of_them_once_the_other_is_yanked() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    let [first, second] = ["i386-linux", "i686-linux"].map(|platform| Gem::new("lamp", "1.0.0").platform(platform));
    admin.push(FIRST, &first).expect(200);
    let (gem, spec) =
        (path("gems/lamp-1.0.0-x86-linux.gem"), path("quick/Marshal.4.8/lamp-1.0.0-x86-linux.gemspec.rz"));
    let found = || (anon.get(&gem).status, anon.get(&spec).status);
    // Twice each time: the second answer may come from memory.
    assert_eq!([found(), found()], [(200, 200); 2]);
    admin.push(FIRST, &second).expect(200);
    assert_eq!([found(), found()], [(404, 404); 2]);
    let form = "gem_name=lamp&version=1.0.0&platform=i386-linux";
    admin.ask("DELETE", &path("api/v1/gems/yank"), &[], form.as_bytes()).expect(200);
    assert_eq!([found(), found()], [(200, 200); 2]);
    assert!(anon.get(&gem).body == second.bytes());
    anon.get(&path("gems/lamp-1.0.0-i386-linux.gem")).expect(404);
    anon.get(&path("quick/Marshal.4.8/lamp-1.0.0-i386-linux.gemspec.rz")).expect(404);
}

#[test]
fn a_gem_asked_for_where_it_no_longer_is_is_sent_on_below_the_same_prefix() {
    let world = World::start();
    let gem = Gem::new("lamp", "1.0.0");
    world.admin().push(FIRST, &gem).expect(200);
    let moved = world.anon().get(&path("downloads/lamp-1.0.0.gem")).expect(302);
    assert_eq!(moved.header("location"), Some("../gems/lamp-1.0.0.gem"));
    let script = format!("curl -fsSL -o got {}downloads/lamp-1.0.0.gem; sha256sum < got", world.url(FIRST));
    let sum = Ruby::here().shell("", &script).good();
    assert!(sum.starts_with(&hex(&Sha256::digest(gem.bytes()))), "{sum}");
}

#[test]
fn a_gemspec_changes_hands_like_any_index() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    let spec = path("quick/Marshal.4.8/lamp-1.0.0.gemspec.rz");
    anon.get(&spec).expect(404);
    anon.get(&spec).expect(404);
    admin.push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    for _ in 0..3 {
        let got = anon.get(&spec).expect(200);
        assert_eq!(got.header("content-type"), Some("application/octet-stream"));
        assert_eq!(got.header("content-length"), Some(got.body.len().to_string().as_str()));
        assert_eq!(got.header("vary"), None);
        let tag = got.header("etag").unwrap();
        let again = anon.ask("GET", &spec, &[("If-None-Match", tag), ("Accept-Encoding", "gzip")], b"");
        assert!(again.expect(304).body.is_empty());
        let plain = anon.ask("GET", &spec, &[("Accept-Encoding", "gzip")], b"").expect(200);
        assert_eq!((plain.header("content-encoding"), &plain.body), (None, &got.body));
        let head = anon.ask("HEAD", &spec, &[], b"").expect(200);
        assert_eq!(head.header("content-length"), got.header("content-length"));
    }
    admin.yank(FIRST, "lamp", "1.0.0").expect(200);
    anon.get(&spec).expect(404);
}
