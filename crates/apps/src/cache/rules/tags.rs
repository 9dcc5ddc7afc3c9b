//! The tags of a response, by which it can be purged: `Surrogate-Key` (Fastly) and `Cache-Tag` (Cloudflare, Akamai).

use super::fields::Fields;
use http::HeaderMap;

/// The headers with tags. Clients do not get them.
pub(crate) const TAG_FIELDS: [&str; 2] = ["surrogate-key", "cache-tag"];
/// A response with more tags is not stored, because a purge must reach each response with its tag.
const MOST: usize = 64;
/// Likewise for a longer tag, in bytes.
const LONGEST: usize = 256;

/// The tags of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tags(Box<[Box<[u8]>]>);

impl Tags {
    /// Reads the tags. `None`: there are too many, or one is too long.
    pub(crate) fn of(headers: &HeaderMap) -> Option<Self> {
        Self::in_fields(headers, &TAG_FIELDS)
    }

    /// Reads the tags in these headers.
    pub(crate) fn in_fields(headers: &dyn Fields, names: &[&str]) -> Option<Self> {
        let mut tags: Vec<Box<[u8]>> = Vec::new();
        for name in names {
            headers.each(name, &mut |line| {
                let parts =
                    line.split(|byte| *byte == b',' || byte.is_ascii_whitespace()).filter(|tag| !tag.is_empty());
                parts.take(MOST + 1).for_each(|tag| add(&mut tags, tag));
            });
        }
        Self::checked(tags)
    }

    /// These tags.
    pub(crate) fn listed<'a>(list: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let mut tags = Vec::new();
        list.for_each(|tag| add(&mut tags, tag));
        Self::checked(tags)
    }

    fn checked(tags: Vec<Box<[u8]>>) -> Option<Self> {
        let fits = tags.len() <= MOST && tags.iter().all(|tag| tag.len() <= LONGEST);
        fits.then(|| Self(tags.into_boxed_slice()))
    }

    /// Each tag.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|tag| &**tag)
    }

    /// Whether this is one of them.
    pub(crate) fn has(&self, tag: &[u8]) -> bool {
        self.iter().any(|known| known == tag)
    }

    /// Bytes that they take.
    pub(crate) fn weight(&self) -> usize {
        self.iter().map(|tag| tag.len() + size_of::<Box<[u8]>>()).sum()
    }
}

/// Adds a tag once, and no more than tell that there are too many.
fn add(tags: &mut Vec<Box<[u8]>>, tag: &[u8]) {
    if tags.len() <= MOST && !tags.iter().any(|known| **known == *tag) {
        tags.push(tag.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderName;

    fn tags(lines: &[(&'static str, &str)]) -> Option<Vec<String>> {
        let mut headers = HeaderMap::new();
        for (name, value) in lines {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        Some(Tags::of(&headers)?.iter().map(|tag| String::from_utf8(tag.to_vec()).unwrap()).collect())
    }

    #[test]
    fn tags_are_separated_by_spaces_or_commas_in_either_header() {
        let lines = [("surrogate-key", "a  b"), ("surrogate-key", "c"), ("cache-tag", "d, a,e")];
        assert_eq!(tags(&lines).unwrap(), ["a", "b", "c", "d", "e"]);
        assert_eq!(tags(&[]).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn no_tag_is_left_out_silently() {
        let many = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(tags(&[("surrogate-key", &many(MOST))]).unwrap().len(), MOST);
        assert_eq!(tags(&[("surrogate-key", &many(MOST + 1))]), None);
        assert_eq!(tags(&[("surrogate-key", &many(MOST)), ("cache-tag", "x")]), None);
        assert_eq!(tags(&[("cache-tag", &"x".repeat(LONGEST + 1))]), None);
    }
}
