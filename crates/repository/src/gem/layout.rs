//! The paths of a gem upstream that are fetched by path.

/// A path of a gem upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GemPath<'a>(pub(crate) &'a str);

impl<'a> GemPath<'a> {
    /// The gem whose versions are at the path; `None`: it is a package, or a file about one.
    pub(crate) fn info(self) -> Option<&'a str> {
        self.0.strip_prefix("info/")
    }

    /// Whether the index lists it: the versions of a gem, or a package. Other files about a package are not listed.
    pub(crate) fn is_listed(self) -> bool {
        self.info().is_some() || self.0.starts_with("gems/")
    }
}
