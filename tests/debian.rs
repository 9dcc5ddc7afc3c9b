//! Real gems from Debian's packages, with their own gemspecs and platforms: pushed, then installed and run by an
//! application.

use crate::world::{Client, Connection, FIRST, Index, Person, Ruby, World};

// Compiled parts only run with this machine's Ruby.
crate::world::with_each_client!([
    an_application_of_debians_gems_is_installed_from_an_empty_cache_and_answers,
    a_lock_of_another_source_stays_as_it_is_when_its_gems_come_through_a_mirror,
]; here: Here, oldest_bundler: OldestBundler);

/// The gems that a Sinatra application needs, and two gems with compiled parts, each for several platforms.
const GEMS: [&str; 9] =
    ["rack", "rack-protection", "sinatra", "mustermann", "tilt", "ruby2_keywords", "rake", "puma", "nio4r"];
const WANTED: &str = "gem 'sinatra'\ngem 'puma'\ngem 'rake'";
/// The source in the Gemfile. No server listens there, so every gem has to come from the mirror.
const ELSEWHERE: &str = "https://gems.example";

/// A server with all of these gems, pushed with `gem`.
fn shelf(desk: &Ruby) -> World {
    let world = World::start();
    let admin = world.admin();
    for file in desk.debian(&GEMS) {
        let connection = &mut admin.connect().unwrap();
        admin.push_on(connection, FIRST, &std::fs::read(file).unwrap()).unwrap().expect(200);
    }
    world
}

fn an_application_of_debians_gems_is_installed_from_an_empty_cache_and_answers(client: Client) {
    let world = World::start();
    let (admin, desk) = (world.admin(), Ruby::with(client));
    let files = desk.debian(&GEMS);
    assert!(files.len() > GEMS.len(), "gems for platforms are among them: {files:?}");
    for file in &files {
        // As teams write the URL, with and without the slash at the end.
        let url = world.url(FIRST);
        let said = desk.push_file(url.trim_end_matches('/'), admin.secret(), file).good();
        assert!(said.contains("Successfully registered gem: "), "{said}");
    }
    Index::read(&world.anon(), FIRST).download(&world.anon(), FIRST);

    let machine = Ruby::with(client);
    let app = machine.app("app", world.url(FIRST).trim_end_matches('/'), WANTED);
    let said = app.bundle(&["install"]).good();
    for name in ["sinatra", "rack", "puma", "nio4r", "tilt", "mustermann"] {
        assert!(said.contains(&format!("Installing {name} ")), "{said}");
    }
    let code = "class Lamp < Sinatra::Base\n  get('/lamp') { $LOADED_FEATURES.grep(/sinatra.base|puma_http11/).join(' ') }\nend";
    app.file("config.ru", &format!("require 'sinatra/base'\n{code}\nrun Lamp\n"));
    let (_running, address) = app.serve();
    let answer = Connection::open(address).unwrap().call("GET", "/lamp", &[], b"").unwrap().expect(200);
    let from: Vec<&str> = answer.text().split(' ').collect();
    assert!(from.len() == 2 && from.iter().all(|file| file.contains("/installed/")), "{from:?}");
}

fn a_lock_of_another_source_stays_as_it_is_when_its_gems_come_through_a_mirror(client: Client) {
    let desk = Ruby::with(client);
    let world = shelf(&desk);
    let url = world.url(FIRST);
    let locked = desk.app("there", &url, WANTED);
    locked.bundle(&["lock", "--add-platform", "java", "arm64-darwin"]).good();
    let lock = locked.lock();
    for platform in ["java", "arm64-darwin"] {
        assert!(lock.contains(&format!("nio4r (2.5.8-{platform})")), "{lock}");
    }
    let lock = lock.replace(&url, &format!("{ELSEWHERE}/"));

    for mirror in [format!("mirror.{ELSEWHERE}"), "mirror.all".to_owned()] {
        let machine = Ruby::with(client);
        let app = machine.app("app", ELSEWHERE, WANTED);
        app.file("Gemfile.lock", &lock);
        app.bundle(&["config", "set", "--local", &mirror, url.trim_end_matches('/')]).good();
        app.bundle(&["install"]).good();
        assert_eq!(app.lock(), lock);
        assert_eq!(app.ruby("require 'sinatra/base'; puts Sinatra::VERSION"), "3.0.5\n");
    }
}

/// Bundler stores an index under the name of the source, whichever server sent it. After a change of the server behind
/// a mirror, it requests the continuation of an index that the new server never had, with an ETag that it never sent.
#[test]
fn an_index_that_a_client_has_from_another_server_is_replaced() {
    let (first, second) = (World::start(), World::start());
    let gem = crate::world::Gem::new;
    for number in 0..40 {
        first.admin().push(FIRST, &gem("lamp", &format!("1.0.{number}"))).expect(200);
    }
    second.admin().push(FIRST, &gem("oil", "2.0.0")).expect(200);
    second.admin().push(FIRST, &gem("lamp", "2.0.0").needs("oil", "~> 2.0")).expect(200);

    let machine = Ruby::new();
    let app = machine.app("app", ELSEWHERE, "gem 'lamp'");
    for (world, version) in [(&first, "1.0.39"), (&second, "2.0.0"), (&first, "1.0.39")] {
        app.bundle(&["config", "set", "--local", &format!("mirror.{ELSEWHERE}"), &world.url(FIRST)]).good();
        let said = app.bundle(&["lock", "--verbose"]).good();
        assert!(!said.contains("api/v1/dependencies") && !said.contains("specs.4.8"), "{said}");
        assert!(app.lock().contains(&format!("lamp ({version})")), "{}", app.lock());
        app.unlock();
    }
}

/// The paths and statuses in the output of a verbose Bundler, in order.
fn answered(said: &str) -> Vec<(&str, &str)> {
    let answers = said.lines().filter_map(|line| line.strip_prefix("HTTP ")?.split_once(' '));
    answers
        .filter(|(status, _)| status.parse::<u16>().is_ok())
        .map(|(status, rest)| (rest.rsplit_once("/gems-private/").unwrap().1, status))
        .collect()
}

#[test]
fn one_changed_gem_costs_two_requests_for_the_tails_of_two_files() {
    let world = World::start();
    let publish = |by: &Person, version: &str| {
        by.push(FIRST, &crate::world::Gem::new("lamp", version)).expect(200);
    };
    publish(&world.admin(), "1.0.0");
    let machine = Ruby::new();
    let app = machine.app("app", &world.url(FIRST), "gem 'lamp'");
    app.bundle(&["lock"]).good();
    publish(&world.admin(), "1.1.0");
    let said = app.bundle(&["outdated", "--verbose"]).bad();
    assert!(said.contains("lamp") && said.contains("1.1.0"), "{said}");
    publish(&world.admin(), "1.2.0");
    let said = app.bundle(&["lock", "--update", "--verbose"]).good();
    assert_eq!(answered(&said), [("versions", "206"), ("info/lamp", "206")], "{said}");
    let said = app.bundle(&["lock", "--update", "--verbose"]).good();
    assert_eq!(answered(&said), [("versions", "304")], "{said}");
}
