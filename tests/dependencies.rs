//! The dependency API, which Bundler before 1.12 and RubyGems before 3.2.3 use: the dependencies of each version of
//! several gems.

use crate::world::{FIRST, Gem, Ruby, World, hex};
use serde_json::json;

fn path(what: &str) -> String {
    format!("/repository/{FIRST}/api/v1/dependencies{what}")
}

#[test]
fn the_list_is_byte_for_byte_what_ruby_would_dump() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    for gem in [
        Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0").needs("wick", ">= 0"),
        Gem::new("lamp", "1.1.0.rc1").needs("oil", ">= 1.0"),
        Gem::new("lamp", "1.0.0").platform("java"),
        Gem::new("oil", "1.0.0"),
        Gem::new("wick", "0.1"),
    ] {
        admin.push(FIRST, &gem).expect(200);
    }
    // Each list twice: after the first request the dependencies of each gem are in memory.
    let lists = ["?gems=lamp,nothing,oil", "?gems=nothing", "?gems=lamp%2Coil%2Cno+name,lamp", "?x=1&gems=lamp"];
    let (mut dumped, mut told) = (String::new(), String::new());
    for list in lists.into_iter().chain(lists) {
        let marshal = anon.get(&path(list)).expect(200);
        assert_eq!(marshal.header("content-type"), Some("application/octet-stream"));
        let json = anon.get(&path(&format!(".json{list}"))).expect(200);
        assert_eq!(json.header("content-type"), Some("application/json"));
        dumped += &(hex(&marshal.body) + "\n");
        told += &(json.text().to_owned() + "\n");
    }
    let said = Ruby::new().judge(
        dumped.as_bytes(),
        "require 'json'
         File.readlines(ARGV[0]).each do |line|
           bytes = [line.chomp].pack('H*')
           read = Marshal.load(bytes)
           abort \"not what it would dump: #{bytes.inspect}\" unless Marshal.dump(read) == bytes
           puts JSON.generate(read)
         end",
    );
    assert_eq!(said, told);
    let all = anon.get(&path(".json?gems=lamp,oil")).expect(200).json();
    let version = |name: &str, number: &str, platform: &str, needed: &[[&str; 2]]| json!({ "name": name, "number": number, "platform": platform, "dependencies": needed });
    assert_eq!(
        all,
        json!([
            version("lamp", "1.0.0", "ruby", &[["oil", "~> 1.0"], ["wick", ">= 0"]]),
            version("lamp", "1.1.0.rc1", "ruby", &[["oil", ">= 1.0"]]),
            version("lamp", "1.0.0", "java", &[]),
            version("oil", "1.0.0", "ruby", &[]),
        ])
    );
}

#[test]
fn a_list_of_none_is_an_empty_answer_one_of_too_many_is_refused_and_each_push_and_yank_is_in_the_next() {
    let world = World::start();
    let (admin, anon) = (world.admin(), world.anon());
    for nothing in ["", "?", "?gems=", ".json", ".json?gems="] {
        assert!(anon.get(&path(nothing)).expect(200).body.is_empty());
        anon.ask("HEAD", &path(nothing), &[], b"").expect(200);
    }
    assert_eq!(anon.get(&path("?gems=,")).expect(200).body, b"\x04\x08[\0");
    let list = |count: usize| (0..count).map(|at| format!("gem-{at}")).collect::<Vec<_>>().join(",");
    anon.get(&path(&format!("?gems={},gem-1", list(200)))).expect(200);
    let refused = anon.get(&path(&format!("?gems={}", list(201)))).expect(422);
    assert_eq!(refused.text(), "Too many gems (use --full-index instead)\n");
    anon.ask("POST", &path("?gems=a"), &[], b"x").expect(401);
    admin.ask("POST", &path("?gems=a"), &[], b"x").expect(405);

    let listed = || {
        let list = anon.get(&path(".json?gems=lamp,oil")).expect(200).json();
        let marshal = anon.get(&path("?gems=lamp,oil")).expect(200).body;
        let numbers: Vec<String> =
            list.as_array().unwrap().iter().map(|one| one["number"].as_str().unwrap().to_owned()).collect();
        let all_there =
            numbers.iter().all(|number| marshal.windows(number.len()).any(|part| part == number.as_bytes()));
        assert!(all_there, "{numbers:?} and {}", marshal.escape_ascii());
        numbers
    };
    assert_eq!(listed(), [""; 0]);
    for round in 0..5 {
        admin.push(FIRST, &Gem::new("lamp", &format!("1.0.{round}"))).expect(200);
        admin.push(FIRST, &Gem::new("oil", &format!("2.0.{round}"))).expect(200);
        let last = |number: &str| listed().contains(&format!("{number}.{round}"));
        assert!(last("1.0") && last("2.0"));
    }
    assert_eq!(listed().len(), 10);
    admin.yank(FIRST, "lamp", "1.0.3").expect(200);
    assert_eq!(listed().len(), 9);
    assert!(!listed().contains(&"1.0.3".to_owned()));
}
