//! Reads lists of entity tags (RFC 9110, 8.8.3), also as careless clients write them.

/// The tags of a list. A quoted tag may hold commas; an unquoted one ends at the next comma.
pub(super) struct Tags<'a>(pub(super) &'a str);

/// One tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// Without `W/` and quotes.
    pub(super) opaque: &'a str,
    /// A strong tag promises the same bytes, a weak one the same meaning.
    pub(super) strong: bool,
}

impl<'a> Iterator for Tags<'a> {
    type Item = Tag<'a>;

    fn next(&mut self) -> Option<Tag<'a>> {
        let rest = self.0.trim_start_matches([' ', '\t', ',']);
        let (rest, strong) = rest.strip_prefix("W/").map_or((rest, true), |rest| (rest, false));
        if rest.is_empty() {
            return None;
        }
        let (tag, rest) = match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => rest.split_once(',').unwrap_or((rest, "")),
        };
        self.0 = rest;
        Some(Tag { opaque: tag.trim_end(), strong })
    }
}
