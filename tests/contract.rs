//! The compact index on the wire: validators, ranges and digests, as every Bundler since 1.12 needs them.

use crate::world::{FIRST, Gem, World, each, hex};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use md5::Md5;
use sha2::{Digest, Sha256};

fn path(what: &str) -> String {
    format!("/repository/{FIRST}/{what}")
}

fn digest(body: &[u8]) -> String {
    format!("sha-256=:{}:", BASE64_STANDARD.encode(Sha256::digest(body)))
}

fn tag(body: &[u8]) -> String {
    format!("\"{}\"", hex(&Md5::digest(body)))
}

#[test]
fn the_compact_index_is_on_the_wire_as_every_bundler_needs_it() {
    let world = World::start();
    for gem in [Gem::new("oil", "1.0.0"), Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0"), Gem::new("lamp", "1.1.0")] {
        world.admin().push(FIRST, &gem).expect(200);
    }
    each!(
        &world,
        [
            the_index_says_exactly_what_was_pushed,
            every_index_carries_md5_as_tag_and_sha256_as_digest,
            an_unchanged_file_is_304_whatever_else_is_asked,
            a_range_of_an_index_is_answered_only_to_who_proves_to_hold_what_is_before_it,
            a_client_that_follows_by_ranges_arrives_at_the_same_bytes,
            a_gem_is_served_whole_in_part_and_for_ever,
            a_name_whose_versions_are_all_yanked_keeps_an_empty_info,
            the_addresses_old_clients_probe_are_plain,
        ]
    );
}

fn the_index_says_exactly_what_was_pushed(world: &World) {
    let anon = world.anon();
    let sum = |gem: Gem| hex(&Sha256::digest(gem.bytes()));
    let info = anon.get(&path("info/lamp")).expect(200);
    let lines: Vec<&str> = info.text().lines().collect();
    assert_eq!(lines.len(), 3, "{}", info.text());
    assert_eq!(lines[0], "---");
    let first = format!("1.0.0 oil:~> 1.0|checksum:{}", sum(Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")));
    assert!(lines[1].starts_with(&first), "{}", info.text());
    assert!(lines[2].starts_with(&format!("1.1.0 |checksum:{}", sum(Gem::new("lamp", "1.1.0")))), "{}", info.text());
    assert_eq!(anon.get(&path("names")).expect(200).text(), "---\nlamp\noil\n");
    let versions = anon.get(&path("versions")).expect(200);
    let last = versions.text().lines().last().unwrap();
    assert_eq!(last, format!("lamp 1.1.0 {}", hex(&Md5::digest(&info.body))));
}

fn every_index_carries_md5_as_tag_and_sha256_as_digest(world: &World) {
    for what in ["versions", "names", "info/lamp", "info/oil"] {
        let whole = world.anon().get(&path(what)).expect(200);
        assert_eq!(whole.header("etag"), Some(&*tag(&whole.body)), "{what}");
        assert_eq!(whole.header("repr-digest"), Some(&*digest(&whole.body)), "{what}");
        assert_eq!(whole.header("content-type"), Some("text/plain; charset=utf-8"), "{what}");
        assert_eq!(whole.header("accept-ranges"), Some("bytes"), "{what}");
        assert!(whole.header("daylight-event").is_some_and(|id| !id.is_empty()), "{what}");
        let head = world.anon().ask("HEAD", &path(what), &[], b"").expect(200);
        for name in ["etag", "repr-digest", "content-type", "content-length"] {
            assert_eq!(head.header(name), whole.header(name), "{name} of HEAD {what}");
        }
        let length = whole.body.len().to_string();
        assert_eq!(head.header("content-length"), Some(&*length), "{what}");
    }
}

fn an_unchanged_file_is_304_whatever_else_is_asked(world: &World) {
    for what in ["versions", "names", "info/lamp", "gems/lamp-1.0.0.gem"] {
        let whole = world.anon().get(&path(what)).expect(200);
        let tag = whole.header("etag").unwrap();
        let weak = format!("W/{tag}");
        let listed = format!("\"other\", {tag}");
        for shown in [tag, &weak, &listed, "*"] {
            for extra in [&[][..], &[("Range", "bytes=5-")]] {
                let headers = [&[("If-None-Match", shown)], extra].concat();
                let answer = world.anon().ask("GET", &path(what), &headers, b"").expect(304);
                assert_eq!(answer.header("etag"), Some(tag), "{what}");
                assert!(answer.body.is_empty(), "{what}");
            }
        }
        world.anon().ask("GET", &path(what), &[("If-None-Match", "\"other\"")], b"").expect(200);
    }
}

fn a_range_of_an_index_is_answered_only_to_who_proves_to_hold_what_is_before_it(world: &World) {
    let whole = world.anon().get(&path("info/lamp")).expect(200);
    let size = whole.body.len();
    let first_lines = whole.text().split_inclusive('\n').take(2).map(str::len).sum::<usize>();
    let ask = |range: &str, held: &[u8]| {
        world.anon().ask("GET", &path("info/lamp"), &[("Range", range), ("If-None-Match", &tag(held))], b"")
    };
    // Bundler since 1.15 requests an overlap of one byte, earlier ones do not.
    for from in [first_lines - 1, first_lines] {
        let tail = ask(&format!("bytes={from}-"), &whole.body[..first_lines]).expect(206);
        assert_eq!(tail.body, whole.body[from..]);
        assert_eq!(tail.header("content-range"), Some(&*format!("bytes {from}-{}/{size}", size - 1)));
        assert_eq!(tail.header("repr-digest"), Some(&*digest(&whole.body)));
        assert_eq!(tail.header("etag"), whole.header("etag"));
    }
    // Any other range gets the whole file: never a 416, which makes clients fetch the full index, and never a tail that
    // does not fit.
    let offsets = [&*format!("bytes={}-", first_lines - 2), "bytes=4-", "bytes=0-", "bytes=-7", "bytes=3-9"];
    let foreign = [&*format!("bytes={size}-"), "bytes=21000000-", "bytes=9-3", "bytes=x-", "lines=1-", "bytes=1-2,5-6"];
    for range in offsets.into_iter().chain(foreign) {
        assert_eq!(ask(range, &whole.body[..first_lines]).expect(200).body, whole.body, "{range}");
        assert_eq!(ask(range, b"foreign").expect(200).body, whole.body, "{range}");
    }
}

fn a_client_that_follows_by_ranges_arrives_at_the_same_bytes(world: &World) {
    let anon = world.anon();
    for what in ["versions", "info/lamp"] {
        let before = anon.get(&path(what)).expect(200);
        world.admin().push(FIRST, &Gem::new("lamp", if what == "versions" { "1.2.0" } else { "1.3.0" })).expect(200);
        let range = format!("bytes={}-", before.body.len() - 1);
        let headers = [("Range", &*range), ("If-None-Match", before.header("etag").unwrap())];
        let tail = anon.ask("GET", &path(what), &headers, b"").expect(206);
        let local = [&before.body, &tail.body[1..]].concat();
        assert_eq!(local, anon.get(&path(what)).expect(200).body, "{what}");
        assert_eq!(tail.header("repr-digest"), Some(&*digest(&local)), "{what}");
        assert_eq!(tail.header("etag"), Some(&*tag(&local)), "{what}");
    }
}

fn a_gem_is_served_whole_in_part_and_for_ever(world: &World) {
    let bytes = Gem::new("lamp", "1.1.0").bytes();
    let whole = world.anon().get(&path("gems/lamp-1.1.0.gem")).expect(200);
    assert_eq!(whole.body, bytes);
    assert_eq!(whole.header("content-type"), Some("application/octet-stream"));
    assert_eq!(whole.header("content-encoding"), None);
    let size = bytes.len();
    for (range, from, to) in [("bytes=100-199", 100, 200), ("bytes=100-", 100, size), ("bytes=-7", size - 7, size)] {
        let part = world.anon().ask("GET", &path("gems/lamp-1.1.0.gem"), &[("Range", range)], b"").expect(206);
        assert_eq!(part.body, bytes[from..to], "{range}");
        assert_eq!(part.header("content-range"), Some(&*format!("bytes {from}-{}/{size}", to - 1)));
    }
    let head = world.anon().ask("HEAD", &path("gems/lamp-1.1.0.gem"), &[], b"").expect(200);
    assert_eq!(head.header("content-length"), Some(&*bytes.len().to_string()));
    world.anon().get(&path("gems/lamp-9.9.9.gem")).expect(404);
    world.admin().yank(FIRST, "lamp", "1.1.0").expect(200);
    world.anon().get(&path("gems/lamp-1.1.0.gem")).expect(404);
}

fn the_addresses_old_clients_probe_are_plain(world: &World) {
    let anon = world.anon();
    for probe in [path(""), path("versions"), path("info/lamp")] {
        let answer = anon.ask("HEAD", &probe, &[], b"").expect(200);
        assert_eq!(answer.header("location"), None, "{probe}");
        anon.get(&probe).expect(200);
    }
    anon.get(&format!("//repository//{FIRST}//versions")).expect(200);
    let gem = Gem::new("oil", "2.0.0").bytes();
    let slashes = format!("/repository/{FIRST}//api/v1/gems");
    world.admin().ask("POST", &slashes, &[("Content-Type", "application/octet-stream")], &gem).expect(200);
    assert_eq!(anon.get(&path("info/nothing")).expect(404).text().trim_end(), "This gem could not be found");
    anon.get("/repository/nothing/versions").expect(404);
    anon.get("/health/live").expect(200);
    anon.get("/health/ready").expect(200);
    assert!(anon.get("/metrics").expect(200).text().contains("# TYPE "));
}

fn a_name_whose_versions_are_all_yanked_keeps_an_empty_info(world: &World) {
    world.admin().yank(FIRST, "oil", "1.0.0").expect(200);
    let info = world.anon().get(&path("info/oil")).expect(200);
    assert_eq!(info.text(), "---\n");
    let versions = world.anon().get(&path("versions")).expect(200);
    assert!(
        versions.text().ends_with(&format!("oil -1.0.0 {}\n", hex(&Md5::digest(&info.body)))),
        "{}",
        versions.text()
    );
    assert_eq!(world.anon().get(&path("names")).expect(200).text(), "---\nlamp\n");
}
