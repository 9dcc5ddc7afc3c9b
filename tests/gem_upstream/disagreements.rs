//! Temporary or historical differences between the index of an upstream and its `/info`, and the answers that clients
//! get.

use super::shelf::{Shelf, before, good, lamp_and_oil, md5};
use super::{REMOTE, get};
use crate::world::{Gem, Says, hex};
use sha2::{Digest, Sha256};

#[test]
fn a_version_that_info_has_before_the_index_lists_it_can_be_downloaded() {
    let shelf = lamp_and_oil();
    let gem = Gem::new("lamp", "1.1.0");
    let line = format!("1.1.0 |checksum:{}\n", hex(&Sha256::digest(gem.bytes())));
    let info = shelf.info("lamp") + &line;
    shelf.upstream.says("/info/lamp", good(&info));
    shelf.upstream.says("/gems/lamp-1.1.0.gem", Says::bytes(gem.bytes()));
    let world = before(&shelf.upstream);
    assert!(!get(&world, "versions").expect(200).text().contains("1.1.0"));
    assert_eq!(get(&world, "info/lamp").expect(200).text(), info);
    assert!(get(&world, "gems/lamp-1.1.0.gem").expect(200).body == gem.bytes());
    get(&world, "quick/Marshal.4.8/lamp-1.1.0.gemspec.rz").expect(200);
    // A version that neither has is not requested.
    get(&world, "gems/lamp-9.0.gem").expect(404);
    assert_eq!(shelf.upstream.count_of("lamp-9.0"), 0);
}

#[test]
fn a_version_that_the_index_lists_before_info_has_it_is_not_said_to_be_missing() {
    let mut shelf = lamp_and_oil();
    let older = shelf.info("lamp");
    let world = before(&shelf.upstream);
    get(&world, "info/lamp").expect(200);
    shelf.push(&Gem::new("lamp", "1.1.0"));
    let newer = shelf.info("lamp");
    shelf.upstream.says("/info/lamp", Says::bytes(older));
    world.set_time("2026-11-02T12:01:05Z");
    assert!(get(&world, "versions").expect(200).text().contains("1.1.0"));
    for path in ["gems/lamp-1.1.0.gem", "quick/Marshal.4.8/lamp-1.1.0.gemspec.rz"] {
        let refused = get(&world, path).expect(502);
        assert!(refused.text().contains("older than its index"), "{}", refused.text());
    }
    shelf.upstream.says("/info/lamp", Says::bytes(newer));
    world.set_time("2026-11-02T12:02:10Z");
    get(&world, "gems/lamp-1.1.0.gem").expect(200);
}

#[test]
fn names_from_before_the_rules_for_names_are_in_every_protocol() {
    let shelf = Shelf::new(&[Gem::new("_", "1.0"), Gem::new("wick_", "1.0"), Gem::new("-x", "1.0")]);
    let world = before(&shelf.upstream);
    for name in ["_", "wick_", "-x"] {
        get(&world, &format!("info/{name}")).expect(200);
        for path in ["api/v1/dependencies.json?gems=", "api/v1/dependencies?gems="] {
            let told = get(&world, &format!("{path}{name}")).expect(200);
            assert!(String::from_utf8_lossy(&told.body).contains("1.0"), "{path}{name}");
        }
        get(&world, &format!("gems/{name}-1.0.gem")).expect(200);
        get(&world, &format!("api/v1/versions/{name}.json")).expect(200);
    }
}

#[test]
fn half_a_line_that_clients_could_read_is_not_relayed_where_nothing_proves_the_file() {
    let mut shelf = lamp_and_oil();
    let older = shelf.info("lamp");
    shelf.push(&Gem::new("lamp", "1.1.0"));
    let newer = shelf.info("lamp").trim_end().to_owned() + ",ruby:>= 2.7.1\n";
    // The upstream's disk was full when it wrote the file.
    shelf.set_info("lamp", "-1.1.0,1.1.0", &newer);
    shelf.upstream.says("/info/lamp", Says::bytes(&newer[..newer.len() - 3]));
    let world = before(&shelf.upstream);
    let cut = get(&world, "info/lamp").expect(200);
    assert_eq!((cut.text(), cut.header("daylight-stale")), (&*older, Some("upstream_behind")));
    // If the index has the MD5 of a truncated file, that is the file.
    let endless = newer.trim_end();
    shelf.set_info("lamp", "-1.1.0,1.1.0", endless);
    world.set_time("2026-11-02T12:01:05Z");
    get(&world, "versions").expect(200);
    let whole = get(&world, "info/lamp").expect(200);
    assert_eq!((whole.text(), whole.header("daylight-stale")), (endless, None));
}

#[test]
fn an_md5_that_was_corrected_is_right_again_where_info_is_what_it_was_then() {
    let mut shelf = lamp_and_oil();
    let (older, index) = (shelf.info("lamp"), shelf.versions.clone());
    shelf.push(&Gem::new("lamp", "1.1.0"));
    let newer = shelf.info("lamp");
    // The index is behind, so its MD5 is taken for a wrong one.
    shelf.upstream.says("/versions", good(&index));
    let world = before(&shelf.upstream);
    assert_eq!(get(&world, "info/lamp").expect(200).text(), newer);
    assert!(get(&world, "versions").expect(200).text().contains(&md5(&newer)));
    // The version was yanked before the index had it.
    shelf.upstream.says("/info/lamp", good(&older));
    for (time, stale) in [("2026-11-02T12:01:05Z", None), ("2026-11-02T12:02:10Z", None)] {
        world.set_time(time);
        let told = get(&world, "info/lamp").expect(200);
        assert_eq!((told.text(), told.header("daylight-stale")), (&*older, stale), "{time}");
    }
    let versions = get(&world, "versions").expect(200);
    assert!(versions.text().trim_end().ends_with(&md5(&older)), "{}", versions.text());
    // A file that the index proves is not requested.
    let asked = shelf.upstream.count("/info/lamp");
    world.set_time("2026-11-02T13:00:00Z");
    get(&world, "info/lamp").expect(200);
    assert_eq!(shelf.upstream.count("/info/lamp"), asked);
}

#[test]
fn what_only_a_correction_proves_is_answered_and_asked_for_again_once_a_minute_while_the_upstream_fails() {
    let mut shelf = lamp_and_oil();
    let index = shelf.versions.clone();
    shelf.push(&Gem::new("lamp", "1.1.0"));
    let newer = shelf.info("lamp");
    shelf.upstream.says("/versions", Says::bytes(index));
    let world = before(&shelf.upstream);
    get(&world, "info/lamp").expect(200);
    let asked = shelf.upstream.count("/info/lamp");
    shelf.upstream.says("/info/lamp", Says::status(500));
    world.set_time("2026-11-02T12:01:05Z");
    for _ in 0..3 {
        let told = get(&world, "info/lamp").expect(200);
        assert_eq!((told.text(), told.header("daylight-stale")), (&*newer, Some("upstream_failed")));
    }
    assert_eq!(shelf.upstream.count("/info/lamp"), asked + 1);
}

#[test]
fn a_large_index_that_always_breaks_off_is_fetched_six_times_an_hour_at_most() {
    let shelf = lamp_and_oil();
    let more: String = (0..30_000).map(|number| format!("gem{number} 1.0.0 {}\n", md5("---\n"))).collect();
    shelf.upstream.says("/versions", Says::bytes(shelf.versions.clone() + &more).cut_after(900_000));
    let world = before(&shelf.upstream);
    let anon = world.anon();
    for _ in 0..10 {
        let connection = &mut anon.connect().unwrap();
        // A client that waits for the first index may get its beginning.
        let told = anon.on(connection, "GET", &format!("/repository/{REMOTE}/versions"), &[], b"");
        assert!(told.is_err() || told.is_ok_and(|told| told.status == 502));
    }
    assert_eq!(shelf.upstream.count("/versions"), 6);
    shelf.upstream.says("/versions", Says::bytes(&*shelf.versions));
    world.set_time("2026-11-02T13:01:00Z");
    get(&world, "versions").expect(200);
}

#[test]
fn an_index_that_is_sent_whole_and_refused_each_time_is_fetched_six_times_an_hour_at_most() {
    let shelf = lamp_and_oil();
    let world = before(&shelf.upstream);
    get(&world, "versions").expect(200);
    // It no longer supports ranges, and ends within a line.
    let asked = shelf.upstream.count("/versions");
    shelf.upstream.says("/versions", Says::bytes(&shelf.versions[..shelf.versions.len() - 9]));
    for minute in 2..20 {
        world.set_time(&format!("2026-11-02T12:{minute:02}:05Z"));
        get(&world, "versions").expect(200);
    }
    assert!(shelf.upstream.count("/versions") - asked <= 6, "{:?}", shelf.upstream.asked());
}
