//! The headers of a request, wherever they are: in a table, or still in the buffer of their connection.

use front::PlainHead;
use http::HeaderMap;

/// Headers that can be looked up by their lower-case names.
pub(crate) trait Fields {
    /// Gives all values of a header, in their order.
    fn each(&self, name: &str, give: &mut dyn FnMut(&[u8]));
}

impl Fields for HeaderMap {
    fn each(&self, name: &str, give: &mut dyn FnMut(&[u8])) {
        self.get_all(name).iter().for_each(|value| give(value.as_bytes()));
    }
}

impl Fields for PlainHead<'_> {
    fn each(&self, name: &str, give: &mut dyn FnMut(&[u8])) {
        self.values(name).for_each(give);
    }
}

/// Whether there is such a header.
pub(crate) fn has(fields: &dyn Fields, name: &str) -> bool {
    let mut has = false;
    fields.each(name, &mut |_| has = true);
    has
}

/// All values of a header, joined by commas as RFC 9110, 5.3 allows for lists.
pub(crate) fn joined(fields: &dyn Fields, name: &str) -> Option<Vec<u8>> {
    joined_by(b", ", fields, name)
}

/// All values of a header, with `between` between them.
pub(crate) fn joined_by(between: &[u8], fields: &dyn Fields, name: &str) -> Option<Vec<u8>> {
    let mut all: Option<Vec<u8>> = None;
    fields.each(name, &mut |value| match &mut all {
        None => all = Some(value.to_vec()),
        Some(all) => {
            all.extend_from_slice(between);
            all.extend_from_slice(value);
        }
    });
    all
}

/// The elements of a list that is separated by commas, as [`parts`] gives them, without empty ones.
pub(crate) fn elements(list: &[u8]) -> Option<Vec<&[u8]>> {
    let mut all = parts(list)?;
    all.retain(|element| !element.is_empty());
    Some(all)
}

/// The parts of a list between its commas, without the white space around them. Commas within quotes separate nothing. `None`: a quoted
/// string does not end.
pub(crate) fn parts(list: &[u8]) -> Option<Vec<&[u8]>> {
    let (mut all, mut begin, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, byte) in list.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b',' if !quoted => {
                all.push(list[begin..at].trim_ascii());
                begin = at + 1;
            }
            _ => {}
        }
    }
    all.push(list[begin..].trim_ascii());
    (!quoted).then_some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_within_quotes_separate_nothing() {
        let list = br#" a, b="x, \", y" ,,c "#;
        assert_eq!(elements(list).unwrap(), [&b"a"[..], br#"b="x, \", y""#, b"c"]);
        assert_eq!(elements(b"a, b=\"c, d"), None);
        assert_eq!(elements(b"").unwrap(), Vec::<&[u8]>::new());
    }

    #[test]
    fn lines_of_one_name_are_one_list() {
        let mut headers = HeaderMap::new();
        headers.append("vary", "a".parse().unwrap());
        headers.append("vary", "b, c".parse().unwrap());
        assert_eq!(joined(&headers, "vary").unwrap(), b"a, b, c");
        assert_eq!(joined(&headers, "age"), None);
        assert!(has(&headers, "vary") && !has(&headers, "age"));
    }
}
