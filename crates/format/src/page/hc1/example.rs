//! The example of the specification.

use super::*;

/// The example of the specification, whose lines but for the body end with CR and LF.
#[test]
fn the_example_of_the_specification_is_read() {
    let text = include_str!("../../../../../docs/hc1.md");
    let lines: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.starts_with("    HC1 200 "))
        .map_while(|line| line.get(4..).or_else(|| line.is_empty().then_some("")))
        .collect();
    let empty = lines.iter().position(|line| line.is_empty()).unwrap();
    let value = format!("{}\r\n\r\n{}\n", lines[..empty].join("\r\n"), lines[empty + 1]);
    let Ok(Entry::Page(page)) = read_bytes(value.as_bytes()) else {
        panic!("{value}: {:?}", read_bytes(value.as_bytes()))
    };
    assert_eq!(&page.page.body[..], b"<h1>Lamps</h1>\n");
    assert_eq!((page.tags.len(), page.counters.len(), page.page.headers.len()), (2, 1, 2));
    assert!(text.contains(&format!("`{}`", key(&host("Shop.Example:443"), "/lamps?page=2"))), "its key");
    let german = [("accept-language", b"de".to_vec())];
    assert!(
        text.contains(&format!("`{}`", variant_key("shop.example", "/lamps?page=2", &german))),
        "the key of a variant"
    );
}
