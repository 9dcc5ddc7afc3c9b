//! A name of a hosted member that an upstream lists too: the upstream's versions are visible on no route, and no
//! upstream is called with the name.

use super::{FIRST, GROUP, LATER, still};
use crate::gem_upstream::shelf::Shelf;
use crate::world::{Gem, World};
use flate2::read::{GzDecoder, ZlibDecoder};
use serde_json::json;
use std::io::Read;

const NESTED: &str = "nested";
/// The version of somebody else.
const THEIRS: &str = "9.9.9";

/// A server with one hosted repository, a remote one for each upstream, a group of all, and one with that as its only member.
fn company(upstreams: &[&Shelf]) -> World {
    let world = still();
    let mut members = vec![FIRST];
    for (name, shelf) in ["remote0", "remote1"].into_iter().zip(upstreams) {
        world.remote_of("gem", name, &shelf.upstream.url());
        members.push(name);
    }
    world.gem_group(GROUP, &members);
    world.gem_group(NESTED, &[GROUP]);
    world
}

/// The unpacked body.
fn plain(body: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    if GzDecoder::new(body).read_to_end(&mut text).is_ok() || ZlibDecoder::new(body).read_to_end(&mut text).is_ok() {
        return text;
    }
    body.to_vec()
}

/// Asserts that no route shows the upstream's version of a gem. `said`: it was visible once, so `/versions` has it in
/// one line and removes it in another.
fn assert_unseen(world: &World, name: &str, said: bool) {
    let person = world.anon();
    for repository in [GROUP.to_owned(), NESTED.to_owned(), format!("{GROUP}@{LATER}"), format!("{NESTED}@{LATER}")] {
        let paths = [
            "versions".to_owned(),
            "names".into(),
            format!("info/{name}"),
            format!("api/v1/dependencies?gems={name}"),
            format!("api/v1/dependencies.json?gems={name}"),
            "specs.4.8.gz".into(),
            "latest_specs.4.8.gz".into(),
            "prerelease_specs.4.8.gz".into(),
            format!("api/v1/gems/{name}.json"),
            format!("api/v1/versions/{name}.json"),
            format!("api/v1/versions/{name}/latest.json"),
            format!("api/v1/search.json?query={name}"),
            format!("api/v1/search/autocomplete.json?query={name}"),
        ];
        for path in &paths {
            let answer = person.file(&repository, path);
            let text = String::from_utf8_lossy(&plain(&answer.body)).into_owned();
            let is_there = match (&**path, said) {
                ("versions", true) => {
                    let last = text.lines().rfind(|line| line.starts_with(&format!("{name} "))).unwrap();
                    assert!(last.contains(&format!("-{THEIRS}")) || !last.contains(THEIRS), "{text}");
                    false
                }
                _ => text.contains(THEIRS),
            };
            assert!(!is_there, "{repository}/{path}: {text}");
        }
        for path in [
            format!("gems/{name}-{THEIRS}.gem"),
            format!("downloads/{name}-{THEIRS}.gem"),
            format!("quick/Marshal.4.8/{name}-{THEIRS}.gemspec.rz"),
            format!("api/v2/rubygems/{name}/versions/{THEIRS}.json"),
            format!("api/v1/attestations/{name}-{THEIRS}.json"),
        ] {
            let answer = person.file(&repository, &path);
            let is_refused = answer.status >= 400 || answer.status == 302 && path.starts_with("downloads/");
            assert!(is_refused, "{repository}/{path}: {}", answer.status);
        }
        let path = format!("/api/v1/explain?repository={GROUP}&path=gems/{name}-{THEIRS}.gem");
        let told = person.get(&path);
        // Readers of a member may learn that it was not asked, and why.
        assert!(told.status >= 400 || told.json()["outcome"] != "answered", "{}", told.text());
    }
}

#[test]
fn a_higher_version_that_appears_upstream_after_ours_is_seen_nowhere() {
    let mut shelf = Shelf::new(&[Gem::new("lamp", "1.0.0")]);
    let world = company(&[&shelf]);
    world.admin().push(FIRST, &Gem::new("vault", "1.0.0")).expect(200);
    world.anon().file(GROUP, "versions").expect(200);
    shelf.push(&Gem::new("vault", THEIRS));
    world.set_time(LATER);
    world.anon().file(GROUP, "versions").expect(200);
    world.anon().file("remote0", "info/vault").expect(200);
    let asked = shelf.upstream.count_of("vault");
    world.set_time("2026-11-02T14:00:00Z");
    assert_unseen(&world, "vault", false);
    assert_eq!(shelf.upstream.count_of("vault"), asked, "{:?}", shelf.upstream.asked());
    assert!(world.anon().file(GROUP, "info/vault").expect(200).text().contains("\n1.0.0 |"));
    // After it is removed here, it does not become the upstream's.
    world.admin().yank(FIRST, "vault", "1.0.0").expect(200);
    assert_unseen(&world, "vault", false);
    assert_eq!(world.anon().file(GROUP, "info/vault").expect(200).text(), "---\n");
}

#[test]
fn a_name_that_an_upstream_had_first_is_ours_once_we_claim_it() {
    let mut shelf = Shelf::new(&[Gem::new("lamp", "1.0.0"), Gem::new("vault", THEIRS)]);
    let world = company(&[&shelf]);
    let before = world.anon().file(GROUP, "versions").expect(200).text().to_owned();
    assert!(before.contains(&format!("vault {THEIRS} ")), "{before}");
    world.anon().file(GROUP, "info/vault").expect(200);
    world.anon().file(GROUP, &format!("gems/vault-{THEIRS}.gem")).expect(200);
    let asked = shelf.upstream.count_of("vault");
    world.change(FIRST, &json!({ "claims": ["vault"] }));
    // Before we publish it, the name has no version, but clients know it.
    assert_eq!(world.anon().file(GROUP, "info/vault").expect(200).text(), "---\n");
    world.admin().push(FIRST, &Gem::new("vault", "1.0.0")).expect(200);
    shelf.push(&Gem::new("vault", "10.0.0"));
    world.set_time(LATER);
    let after = world.anon().file(GROUP, "versions").expect(200).text().to_owned();
    assert!(after.starts_with(&before), "{after}");
    world.set_time("2026-11-02T14:00:00Z");
    assert_unseen(&world, "vault", true);
    assert!(!world.anon().file(GROUP, "versions").expect(200).text().contains("10.0.0"));
    assert_eq!(shelf.upstream.count_of("vault"), asked, "{:?}", shelf.upstream.asked());
}

#[test]
fn a_placeholder_of_a_public_upstream_never_stands_for_the_gem_of_a_paid_one() {
    let paid = Shelf::new(&[Gem::new("queue-pro", "7.0.0")]);
    let public = Shelf::new(&[Gem::new("queue", "7.0.0"), Gem::new("queue-pro", THEIRS)]);
    let world = company(&[&paid, &public]);
    assert_unseen(&world, "queue-pro", false);
    assert!(world.anon().file(GROUP, "info/queue-pro").expect(200).text().contains("7.0.0"));
    world.anon().file(GROUP, "gems/queue-pro-7.0.0.gem").expect(200);
    assert_eq!(public.upstream.count_of("queue-pro"), 0);
}

#[test]
fn a_placeholder_that_stands_before_the_gem_of_a_paid_upstream_is_gone_once_that_claims_the_name() {
    let paid = Shelf::new(&[Gem::new("queue-pro", "7.0.0")]);
    let mut public = Shelf::new(&[Gem::new("queue", "7.0.0")]);
    // In this group the public upstream comes first.
    let world = company(&[&public, &paid]);
    world.anon().file(GROUP, "versions").expect(200);
    public.push(&Gem::new("queue-pro", THEIRS));
    world.set_time(LATER);
    // It begins to list a name of another member, and does not take it.
    world.anon().file(GROUP, "versions").expect(200);
    assert_unseen(&world, "queue-pro", false);
    assert!(world.anon().file(GROUP, "info/queue-pro").expect(200).text().contains("7.0.0"));
    assert_eq!(public.upstream.count_of("queue-pro"), 0);
    // Unless an administrator decides it.
    world.change("remote0", &json!({ "claims": ["queue-pro"] }));
    assert!(world.anon().file(GROUP, "info/queue-pro").expect(200).text().contains(THEIRS));
    world.change("remote0", &json!({ "claims": [] }));
    world.change("remote1", &json!({ "claims": ["queue-pro"] }));
    assert_unseen(&world, "queue-pro", true);
}

#[test]
fn a_name_whose_versions_were_all_taken_away_is_still_its_owners() {
    let mut paid = Shelf::new(&[Gem::new("queue-pro", "7.0.0"), Gem::new("lamp", "1.0.0")]);
    let public = Shelf::new(&[Gem::new("queue-pro", THEIRS)]);
    let world = company(&[&paid, &public]);
    world.admin().push(FIRST, &Gem::new("wick", "1.0.0")).expect(200);
    world.anon().file(GROUP, "versions").expect(200);
    paid.yank("queue-pro", "7.0.0");
    world.admin().yank(FIRST, "wick", "1.0.0").expect(200);
    world.set_time(LATER);
    world.anon().file(GROUP, "versions").expect(200);
    assert_unseen(&world, "queue-pro", false);
    assert_eq!(world.anon().file(GROUP, "info/queue-pro").expect(200).text(), "---\n");
    assert_eq!(world.anon().file(GROUP, "info/wick").expect(200).text(), "---\n");
    assert_eq!(public.upstream.count_of("queue-pro"), 0);
}

#[test]
fn a_version_of_another_name_never_stands_for_the_file_that_is_ours() {
    let (client, desk) = (Gem::new("acme-2-client", "1.0"), Gem::new("desk", "1.0").platform("arm64-darwin-19"));
    // Gems with other names whose files have the same name.
    let public = Shelf::new(&[Gem::new("acme", "2").platform("client-1.0"), Gem::new("desk-1.0-arm64-darwin", "19")]);
    let world = company(&[&public]);
    for ours in [&client, &desk] {
        world.admin().push(FIRST, ours).expect(200);
    }
    world.anon().file(GROUP, "versions").expect(200);
    let files: Vec<String> = [&client, &desk].iter().map(|ours| format!("gems/{}", ours.file())).collect();
    let specs = files.iter().map(|file| file.replace("gems/", "quick/Marshal.4.8/") + "spec.rz");
    let paths: Vec<String> = files.iter().cloned().chain(specs).collect();
    let each = || [GROUP, NESTED].into_iter().flat_map(|group| paths.iter().map(move |path| (group, path)));
    for (group, path) in each() {
        let (own, answer) = (world.anon().file(FIRST, path).expect(200), world.anon().file(group, path).expect(200));
        assert!(answer.body == own.body, "{group}/{path} is somebody else's");
    }
    // Nor after our version is removed.
    world.admin().yank(FIRST, "acme-2-client", "1.0").expect(200);
    world.admin().yank(FIRST, "desk", "1.0&platform=arm64-darwin-19").expect(200);
    for (group, path) in each() {
        let answer = world.anon().file(group, path);
        assert!(answer.status >= 400, "{group}/{path}: {}", answer.status);
    }
    let asked = public.upstream.count_of("/gems/") + public.upstream.count_of("/info/");
    assert_eq!(asked, 0, "{:?}", public.upstream.asked());
}
