//! Parts of long lists: `after` and `limit` in a query, `next` in the answer.

use crate::error::Error;
use format::percent::Form;

/// Most rows in a part.
pub(super) const LIMIT_MAX: usize = 1_000;

/// After what, and how many.
pub(super) fn read(query: &str) -> Result<(String, usize), Error> {
    let limit = match Form(query).value("limit").map(|limit| limit.parse()) {
        None => LIMIT_MAX,
        Some(Ok(limit)) if (1..=LIMIT_MAX).contains(&limit) => limit,
        Some(_) => return Err(Error::Input(format!("`limit` is a number from 1 to {LIMIT_MAX}"))),
    };
    Ok((Form(query).value("after").unwrap_or_default(), limit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_has_a_beginning_and_a_size() {
        assert_eq!(read("").unwrap(), (String::new(), LIMIT_MAX));
        assert_eq!(read("limit=2&after=a%2Fb").unwrap(), ("a/b".to_owned(), 2));
        for bad in ["limit=0", "limit=1001", "limit=x", "limit="] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
