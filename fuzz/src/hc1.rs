//! Pages in the format HC1.

use flate2::Crc;
use format::page::hc1::{self, Entry, Timed};
use format::page::{HEADERS_MAX, HEADERS_MAX_BYTES};

const LIMIT: usize = 1 << 16;

/// An entry, as it lies in a store, and with the length and the checksum that it needs. An accepted page is written again and read as the
/// same page.
pub(crate) fn entry(bytes: &[u8]) {
    check(bytes);
    let Some((status, rest)) = bytes.split_first() else { return };
    let head = rest.windows(4).position(|four| four == b"\r\n\r\n").map_or(0, |at| at + 4);
    let status = if *status < 32 { 0 } else { 200 + u32::from(*status) };
    check(&whole(&format!("HC1 {status} 1700000000 600 60 86400"), rest, rest.len() - head));
}

/// An entry with this beginning of the first line.
fn whole(first: &str, rest: &[u8], body: usize) -> Vec<u8> {
    let mut sum = Crc::new();
    sum.update(rest);
    [format!("{first} {body} {:08x}\r\n", sum.sum()).as_bytes(), rest].concat()
}

fn check(value: &[u8]) {
    match hc1::read(&value.to_vec().into(), LIMIT) {
        Ok(Entry::Page(page)) => {
            assert!(value.ends_with(&page.page.body) && value.len() <= LIMIT);
            assert!(page.page.headers.len() <= HEADERS_MAX && page.counters.len() <= hc1::COUNTERS_MAX);
            let bytes: usize = page.page.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
            assert!(bytes <= HEADERS_MAX_BYTES);
            for (name, value) in &page.page.headers {
                assert!(
                    !name.contains(|c: char| c.is_ascii_uppercase() || c.is_whitespace() || "@:".contains(c)),
                    "{name}"
                );
                assert!(!value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) && &**name != "set-cookie");
            }
            let again = hc1::read(&written(&page).into(), LIMIT + HEADERS_MAX_BYTES);
            assert_eq!(again, Ok(Entry::Page(page)));
        }
        Ok(Entry::Vary(names)) => {
            assert!((1..=hc1::VARY_MAX).contains(&names.len()));
            let values: Vec<_> = names.iter().map(|name| (&**name, Vec::new())).collect();
            assert_eq!(hc1::variant_key("a", "/", &values).len(), hc1::key("a", "/").len());
        }
        Err(_) => {}
    }
}

/// Writes a page.
fn written(timed: &Timed) -> Vec<u8> {
    let (page, mut rest) = (&timed.page, Vec::new());
    let mut line = |name: &str, value: &[u8]| rest.extend([name.as_bytes(), b":", value, b"\r\n"].concat());
    for (name, value) in &page.headers {
        line(name, value);
    }
    if let Some(coding) = page.coding.as_str() {
        line("content-encoding", coding.as_bytes());
    }
    if !timed.tags.is_empty() {
        line("@tags", &timed.tags.join(&b' '));
    }
    let counters: Vec<Vec<u8>> =
        timed.counters.iter().map(|(name, value)| [name.as_bytes(), b"=", value].concat()).collect();
    if !counters.is_empty() {
        line("@while", &counters.join(&b' '));
    }
    rest.extend(b"\r\n");
    rest.extend(&page.body);
    let (stored, fresh) = (page.stored_s.unwrap_or_default(), timed.fresh_s);
    let first = format!("HC1 {} {stored} {fresh} {} {}", page.status, timed.stale_while_s, timed.stale_error_s);
    whole(&first, &rest, page.body.len())
}
