//! Pages of long lists: `after` and `limit` in a query, `next` in the answer.

use crate::error::{Error, Result};
use format::percent::Form;

/// Most rows of a page.
pub(crate) const LIMIT_MAX: usize = 1_000;

/// The page that a query asks for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct PageQuery {
    /// The last row of the page before; empty: the page is the first.
    pub(crate) after: String,
    /// Most rows of the page.
    pub(crate) limit: usize,
}

/// Reads `after` and `limit`.
pub(crate) fn read(query: &str) -> Result<PageQuery> {
    Ok(PageQuery { after: Form(query).value("after").unwrap_or_default(), limit: limit(query)? })
}

/// Reads `after` and `limit`, which is `default` if the query has none.
pub(crate) fn read_or(query: &str, default: usize) -> Result<PageQuery> {
    let page = read(query)?;
    let limit = Form(query).value("limit").map_or(default, |_| page.limit);
    Ok(PageQuery { limit, ..page })
}

/// Reads `limit`.
pub(crate) fn limit(query: &str) -> Result<usize> {
    match Form(query).value("limit").map(|limit| limit.parse()) {
        None => Ok(LIMIT_MAX),
        Some(Ok(limit)) if (1..=LIMIT_MAX).contains(&limit) => Ok(limit),
        Some(_) => Err(Error::Input(format!("`limit` is a number from 1 to {LIMIT_MAX}"))),
    }
}

/// Reads a choice of the rows; by default it is not made.
pub(crate) fn flag(query: &str, name: &str) -> Result<bool> {
    match Form(query).value(name).as_deref() {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Error::Input(format!("`{name}` is `true` or `false`"))),
    }
}

/// Whether only the node that is asked answers, and not all nodes that share its database.
pub(crate) fn only_here(query: &str) -> Result<bool> {
    match Form(query).value("nodes").as_deref() {
        None => Ok(false),
        Some("here") => Ok(true),
        Some(_) => Err(Error::Input("`nodes` is `here`, or is left out for all nodes".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_has_a_beginning_and_a_size() {
        assert_eq!(read("").unwrap(), PageQuery { after: String::new(), limit: LIMIT_MAX });
        assert_eq!(read("limit=2&after=a%2Fb").unwrap(), PageQuery { after: "a/b".to_owned(), limit: 2 });
        assert_eq!(read_or("after=a", 7).unwrap(), PageQuery { after: "a".to_owned(), limit: 7 });
        assert_eq!(read_or("limit=2", 7).unwrap().limit, 2);
        for bad in ["limit=0", "limit=1001", "limit=x", "limit="] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
