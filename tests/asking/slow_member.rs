//! A group has one slow member: the comparison of the slow requests with the rest names it first.

use super::ask;
use crate::world::{FIRST, Gem, Person, Says, Upstream, World};
use serde_json::{Value, json};

/// Requests that wait for the slow member.
const SLOW: usize = 60;
/// Of these so many wait at once.
const WAVE: usize = 10;
/// Quick requests for each of them.
const QUICK: usize = 9;

fn jar(name: &str, number: usize) -> String {
    format!("org/example/{name}{number}/1.0/{name}{number}-1.0.jar")
}

/// A server with a group of one hosted and four remote members, of which `late` answers when it is told to.
struct Scene {
    world: World,
    late: Upstream,
    _others: [Upstream; 3],
}

fn scene() -> Scene {
    let (world, late, others) = (World::start(), Upstream::start(), [(); 3].map(|()| Upstream::start()));
    for number in 0..SLOW * QUICK {
        for (name, upstream) in ["near", "far", "last"].iter().zip(&others) {
            upstream.file(&format!("/{}", jar(name, number)), "a small file");
        }
        // Quick answers come from the last member as well, so the place of the member that answered tells little.
        others[2].file(&format!("/{}", jar("end", number)), "a small file");
    }
    for number in 0..SLOW {
        late.says(&format!("/{}", jar("late", number)), Says::file("a late file").silent());
        // The first member in order that has a file answers, so the last one waits for the slow one to deny it.
        late.says(&format!("/{}", jar("last", number)), Says::status(404).silent());
    }
    world.tree("ours", "maven");
    world.tree("files", "raw");
    let [near, far, last] = &others;
    for (name, upstream) in [("near", near), ("far", far), ("late", &late), ("last", last)] {
        world.remote(name, &upstream.url());
    }
    world.make(
        &json!({ "name": "all", "format": "maven", "kind": "group", "members": ["ours", "near", "far", "late", "last"] }),
    );
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    Scene { world, late, _others: others }
}

/// A quick request of one of many kinds.
fn quick(number: usize, anon: &Person, admin: &Person) {
    match number % 8 {
        0 => anon.file("all", &jar("near", number)).expect(200),
        1 => anon.file("all", &jar("far", number)).expect(200),
        2 => anon.file("all", &jar("near", number - 2)).expect(200),
        3 => anon.file(FIRST, "info/lamp").expect(200),
        4 => anon.file("all", &jar("end", number)).expect(200),
        5 => admin.put("files", &format!("up{number}"), &[7; 3000]).expect(201),
        6 => anon.file("files", &format!("none{number}")).expect(404),
        _ => admin.put("ours", &jar("ours", number), b"ours").expect(201),
    };
}

#[test]
fn the_slow_requests_against_the_rest_name_the_slow_member_first() {
    let Scene { world, late, .. } = &scene();
    let (anon, admin) = (world.anon(), world.admin());
    let paths: Vec<String> =
        (0..SLOW).map(|number| jar(if number.is_multiple_of(3) { "last" } else { "late" }, number)).collect();
    for (wave, paths) in paths.chunks(WAVE).enumerate() {
        std::thread::scope(|scope| {
            for path in paths {
                scope.spawn(|| anon.file("all", path).expect(200));
            }
            paths.iter().for_each(|path| late.await_count(&format!("/{path}"), 1));
            // So they take as long as all of these, whatever the machine.
            (0..WAVE * QUICK).for_each(|place| quick(wave * WAVE * QUICK + place, &anon, &admin));
            paths.iter().for_each(|path| late.release(&format!("/{path}")));
        });
    }
    // One of ten was slow. So is a request that takes longer than nine of ten.
    let limit =
        ask(world, json!("p92(duration_ms) where kind = request"))["rows"][0]["p92(duration_ms)"].as_f64().unwrap();
    let question = format!("where kind = request and duration_ms > {limit} compare rest");
    let answer = ask(world, json!(question));
    println!("{question}: {:#}", answer["rows"][0]);
    let host = late.address().to_string();
    let named = |row: &Value| {
        (row["column"] == "slowest_member" && row["value"] == "late")
            || (row["column"] == "upstream_host" && row["value"] == *host)
    };
    assert!(named(&answer["rows"][0]), "{:#}", answer["rows"]);
    // The time went into asking the members.
    let line = answer["compared"]["line"].as_array().unwrap();
    let more = |step: &&Value| step["difference"].as_f64().unwrap();
    let step = line.iter().max_by(|one, other| more(one).total_cmp(&more(other))).unwrap();
    assert!(["members_ask_ms", "flight_wait_ms", "upstream_ms"].contains(&step["column"].as_str().unwrap()), "{step}");
}
