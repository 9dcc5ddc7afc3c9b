//! Gems that were published elsewhere, perhaps long ago, are judged by whether they install, and not by the rules for a
//! push: in remote repositories, in groups and in imports.

mod forms;

use crate::gem_upstream::shelf::{Shelf, before};
use crate::hostile_gems::made;
use crate::origins_imported::{import, import_as, put};
use crate::world::{Answer, Client, FIRST, Gem, Person, Ruby, World, with_each_client};
use forms::{VERSION, that_install, that_installed};
use tempfile::TempDir;

const REMOTE: &str = "upstream-gems";
const GROUP: &str = "all-gems";
/// 1 May 2009.
const LONG_AGO: u64 = 1_241_136_000;
/// Prints the name, version, platform and dependencies of a gemspec.
const READ: &str = "require 'zlib'; spec = Marshal.load(Zlib.inflate(File.binread(ARGV[0])))
print [spec.full_name, *spec.dependencies.map { |one| \"#{one.name} #{one.requirement}\" }].join(', ')";

/// What they need.
fn wick() -> Gem {
    Gem::new("wick", "1.0.0")
}

fn quick(person: &Person, repository: &str, gem: &Gem) -> Answer {
    person.file(repository, &format!("quick/Marshal.4.8/{}-{}.gemspec.rz", gem.name, gem.number()))
}

/// A server with a remote repository of an upstream that has these gems, and a group of it.
fn world_of(gems: &[Gem]) -> (Shelf, World) {
    let shelf = Shelf::new(gems);
    let world = before(&shelf.upstream);
    world.gem_group(GROUP, &[FIRST, REMOTE]);
    (shelf, world)
}

fn install(world: &World, repository: &str, client: Client) {
    let names: Vec<String> = that_install().into_iter().map(|gem| gem.name).collect();
    let from = format!("--no-document --clear-sources --source {}", world.url(repository));
    let said = Ruby::with(client).shell("", &format!("gem install {from} {}", names.join(" "))).good();
    assert!(said.contains(&format!("{} gems installed", names.len() + 1)), "{said}");
}

#[test]
fn a_remote_and_a_group_serve_the_gemspecs_of_gems_in_all_forms_that_installed_once() {
    let gems = [that_install(), that_installed(), vec![wick()]].concat();
    let (_shelf, world) = world_of(&gems);
    let ruby = Ruby::here();
    for gem in &gems {
        let served = quick(&world.anon(), REMOTE, gem).expect(200).body;
        let needs = gem.dependencies.iter().map(|(name, range)| format!(", {name} {range}"));
        assert_eq!(ruby.judge(&served, READ), format!("{}-{}", gem.name, gem.number()) + &needs.collect::<String>());
        assert_eq!(quick(&world.anon(), GROUP, gem).expect(200).body, served, "{}", gem.name);
    }
}

fn gem_installs_them_from_a_group_and_from_where_they_were_imported(client: Client) {
    let gems = [that_install(), vec![wick()]].concat();
    let (_shelf, world) = world_of(&gems);
    install(&world, GROUP, client);
    let world = World::start();
    let folder = TempDir::new().unwrap();
    gems.iter().for_each(|gem| put(&folder.path().join(gem.file()), &gem.bytes(), LONG_AGO));
    let count = gems.len() as u64;
    assert_eq!(import(&world, "gems", folder.path(), FIRST), [count, 0, count, 0, 0]);
    install(&world, FIRST, client);
}
with_each_client!([gem_installs_them_from_a_group_and_from_where_they_were_imported];
    here: Here, bullseye: Bullseye, newest: Newest);

#[test]
fn nobody_may_push_them_and_without_their_dates_an_import_is_a_push() {
    let world = World::start();
    let writer = world.person("writer", &["read", "write"], &[FIRST]);
    let folder = TempDir::new().unwrap();
    for gem in that_install() {
        let refused = world.admin().push(FIRST, &gem);
        assert!(matches!(refused.status, 403 | 422), "{}: {} {}", gem.name, refused.status, refused.text());
        put(&folder.path().join(gem.file()), &gem.bytes(), LONG_AGO);
    }
    let output = import_as(&world, writer.secret(), "gems", folder.path(), FIRST);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(!output.status.success() && said.contains("an admin imports it as it is"), "{said}");
    assert!(!said.contains("damaged in transit"), "{said}");
}

#[test]
fn limits_hold_for_gems_of_upstreams_and_the_refusal_is_not_that_of_a_push() {
    let mut laughs = "name: laughs\nx0: &a0 [x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..12 {
        laughs += &format!("x{level}: &a{level} [{}]\n", vec![format!("*a{}", level - 1); 9].join(","));
    }
    let long = format!("name: long\nx: &a {}\ny: [{}]\n", "x".repeat(60_000), "*a,".repeat(50_000));
    let gem = |name: &str, bytes: Vec<u8>| Gem::new(name, VERSION).made_of(bytes);
    let gems = [
        (gem("laughs", made::gem(&laughs)), "aliases of too many values"),
        (gem("long", made::gem(&long)), "aliases of too many values"),
        (gem("itself", made::gem("name: itself\nemail: &a [*a]")), "an alias of a value that it is in"),
        (gem("bomb", made::package(&made::packed(made::bomb(64), made::gzip(b"")))), "is larger than"),
        (gem("objects", made::gem("name: objects\nx: !ruby/object:OpenStruct {a: b}")), "is not allowed in a gem"),
        (gem("cut", made::gem("name: cut")[..1000].to_vec()), "has no `data.tar.gz`"),
        (gem("other", made::gem("name: lamp")), "says that it is lamp 2.0.0"),
    ];
    let (_shelf, world) = world_of(&gems.iter().map(|(gem, _)| gem.clone()).collect::<Vec<_>>());
    for (gem, why) in gems {
        for repository in [REMOTE, GROUP] {
            let refused = quick(&world.anon(), repository, &gem).expect(502);
            let text = format!("{} {}", refused.text(), world.event(refused.header("daylight-event").unwrap()));
            let tells = text.contains(why) && text.contains("the upstream lists as");
            // The event of a group has only the outcome.
            assert!(tells || repository == GROUP, "{}: {text}", gem.name);
            assert!(!text.contains("Pushing") && !text.contains("saving your gem"), "{text}");
        }
    }
    assert!(world.peak() < 512 << 20, "{}", world.peak());
}
