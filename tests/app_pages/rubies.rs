//! Keys as the Ruby of each Debian release computes them: since 3.4 it inspects a hash with spaces, and response_bank's keys change with it.

use super::shop::{Shop, from_page};
use crate::world::{Client, Ruby};
use std::fmt::Write as _;

/// Paths and queries whose characters Ruby inspects in ways of their own.
const TARGETS: [&str; 5] = ["/x", "/shoes", "/a:b,c/%C3%A9", "/q?name=%22x%22&b[]=1", "/e?a=$%23@%7Bx%7D*~"];
/// The key of `/x` that Ruby 3.4.11 computed.
const WITH_SPACES: &str = "cacheable:6aa1c0c7246f86972eb24e605d34a621";
/// The key of `/x` that Ruby 2.7 to 3.3 compute.
const WITHOUT: &str = "cacheable:5478b9c2c1efda574ef991e2d8d72d48";

/// The key of each target, and the tag of its version, as this Ruby computes them (`nil`), or in one way (`true` or `false`).
fn computed(ruby: &Ruby, spaced: &str) -> Vec<[String; 2]> {
    std::fs::write(ruby.home().join("keys.rb"), include_str!("keys.rb")).unwrap();
    let mut script = String::from("require './keys'\n");
    for target in TARGETS {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let of = |version| format!("PageKey.of(1, '{path}'.b, '{query}'.b, {version}, 'br', spaced: {spaced})");
        writeln!(script, "puts {}, {}", of("nil"), of("{}")).unwrap();
    }
    let told = ruby.run(ruby.home(), "", "ruby", &["-e", &script]).good();
    let lines: Vec<&str> = told.lines().collect();
    lines.chunks(2).map(|pair| [pair[0].to_owned(), pair[1].to_owned()]).collect()
}

#[test]
fn each_ruby_computes_the_keys_of_one_of_the_two_kinds() {
    let here = Ruby::here();
    let (without, with) = (computed(&here, "false"), computed(&here, "true"));
    assert_eq!((&*without[0][0], &*with[0][0]), (WITHOUT, WITH_SPACES));
    for client in [Client::Here, Client::Bullseye, Client::TrixieRuby, Client::Newest] {
        let ruby = Ruby::with(client);
        let version = ruby.run(ruby.home(), "", "ruby", &["-e", "print RUBY_VERSION >= '3.4'"]).good();
        assert_eq!(computed(&ruby, "nil"), if version == "true" { &with } else { &without }[..], "{client:?}");
    }
}

#[test]
fn pages_are_found_under_the_keys_of_a_newer_ruby() {
    let mut shop = Shop::response_bank("");
    let with_spaces = computed(&Ruby::here(), "true");
    let written: Vec<Vec<u8>> = TARGETS.iter().map(|target| shop.written(target).body).collect();
    for (target, [new_key, new_tag]) in TARGETS.iter().zip(&with_spaces) {
        let (key, tag) = shop.key(target);
        assert_ne!((&key, &tag), (new_key, new_tag));
        let (_, entry) = shop.memcached.get(&key).unwrap();
        shop.memcached.delete(&key);
        let at = entry.windows(tag.len()).position(|bytes| bytes == tag.as_bytes()).unwrap();
        let entry = [&entry[..at], new_tag.as_bytes(), &entry[at + tag.len()..]].concat();
        shop.memcached.set(new_key, 0, &entry);
    }
    shop.rails.stop();
    for ((target, [_, tag]), body) in TARGETS.iter().zip(&with_spaces).zip(&written) {
        let served = from_page(shop.get(target).expect(200), "page");
        assert_eq!((&served.body, served.header("etag")), (body, Some(&*format!("\"{tag}\""))), "{target}");
    }
}
