//! Keys of caches: a name in a scope, such as a path in a repository. A lookup borrows the name.

use quick_cache::Equivalent;

/// A name in a scope.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct NameKey<W> {
    pub(crate) within: W,
    pub(crate) name: Box<str>,
}

/// A [`NameKey`] for a lookup. It has the same fields in the same order, so that both have one hash.
#[derive(Debug, Hash)]
pub(crate) struct NameKeyRef<'a, W> {
    pub(crate) within: W,
    pub(crate) name: &'a str,
}

impl<W> NameKey<W> {
    pub(crate) fn new(within: W, name: &str) -> Self {
        Self { within, name: name.into() }
    }
}

impl<W: Eq> Equivalent<NameKey<W>> for NameKeyRef<'_, W> {
    fn equivalent(&self, key: &NameKey<W>) -> bool {
        self.within == key.within && self.name == &*key.name
    }
}
