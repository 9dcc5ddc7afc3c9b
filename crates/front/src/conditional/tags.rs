//! Lists of entity tags (RFC 9110, 8.8.3), and what clients make of them.

/// The tags of a list. A tag may hold commas; one without quotes ends at the next.
pub(super) struct Tags<'a>(pub(super) &'a str);

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag<'a> {
    /// `W/` and quotes taken off.
    pub(super) opaque: &'a str,
    /// Promises the same bytes, not only the same meaning.
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
