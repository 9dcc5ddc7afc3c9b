//! A page about a package with hundreds of versions stays small.

use super::{page, text};
use crate::world::{FIRST, Gem, World};
use flate2::{Compression, write::GzEncoder};
use std::io::Write as _;

/// The most bytes of a page on the wire, compressed.
const LONGEST: usize = 40 << 10;

#[test]
fn a_page_of_three_hundred_versions_has_the_newest_two_hundred_and_a_link_and_is_short() {
    let world = World::start();
    let connection = &mut world.admin().connect().unwrap();
    for at in 0..300 {
        let gem = Gem::new("lamp", &format!("1.{at}.{}", at * 7919 % 1000)).needs("oil", "~> 2.0");
        world.admin().push_on(connection, FIRST, &gem.bytes()).unwrap().expect(200);
    }
    let shown = world.anon().get(&page(FIRST, "lamp")).expect(200);
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&shown.body).unwrap();
    let packed = gzip.finish().unwrap().len();
    assert!(packed <= LONGEST, "{packed} bytes, {} unpacked", shown.body.len());
    assert_eq!(shown.text().matches("<tr>").count(), 201, "a line of titles, and the first 200 versions");
    assert!(shown.text().contains("?after=1.100.") && shown.text().contains("100 are on other pages"));
    let api = world.anon().get(&format!("/api/v1/packages/{FIRST}/lamp")).expect(200).json();
    assert_eq!(api["versions"].as_array().unwrap().len(), 300, "the API has a limit of its own");
    assert_eq!(text(&api, "latest"), format!("1.299.{}", 299 * 7919 % 1000));
    println!("{} bytes, {packed} compressed", shown.body.len());
}
