//! The list of caches. The bound of a cache has its name, its capacity and its setting, and carries its counts.

use crate::BoundName;

macro_rules! caches {
    ($($name:ident $doc:literal;)*) => {
        /// A cache. Its bound has the same name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum CacheName { $(#[doc = $doc] $name,)* }

        impl CacheName {
            /// All of them, in the order of declaration.
            pub const ALL: &'static [CacheName] = &[$(CacheName::$name,)*];

            /// The bound of its entries.
            pub fn bound(self) -> BoundName {
                match self { $(CacheName::$name => BoundName::$name,)* }
            }

            /// A description of a hit, for people.
            pub fn doc(self) -> &'static str {
                match self { $(CacheName::$name => $doc,)* }
            }
        }
    };
}

caches! {
    Pages "Requests that were answered with a complete response from memory";
    AppCache "Requests for an application that were answered with a stored response";
    AppPages "Requests for an application that were answered with a page that it wrote and that was in memory";
    OpenFiles "Requests for a large file that was still open";
    KnownFiles "Requests for a checksum of a cached file whose row was in memory";
    Indexes "Requests for an index that was up to date in memory";
    UpstreamIndexes "Requests that needed the index of a gem upstream and found it in memory";
    Dependencies "Gems of the dependency API whose rows were in memory";
    Views "Requests for a gem index that a policy filters, or of an earlier moment, that was rendered before";
    Packages "Web pages, calls and searches about a hosted package whose versions were in memory";
    Heads "Pushes of a gem whose state was in memory";
    Folders "Requests for a file in a folder whose file names were in memory";
    KnownFolders "Requests through a group for a file in a folder whose facts were in memory";
    UpstreamPrefixes "Requests that needed the path prefixes of an upstream and found them in memory";
    Cached "Requests for a cached file of an upstream whose TTL had not ended";
    Facts "Requests for a file that an upstream is known to lack, whose TTL had not ended";
}

impl CacheName {
    /// The name used in metrics.
    pub fn as_str(self) -> &'static str {
        self.bound().as_str()
    }

    /// The setting that governs its size.
    pub fn setting(self) -> Option<&'static str> {
        self.bound().setting()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cache_counts_in_a_bound_of_its_own() {
        let mut bounds: Vec<&str> = CacheName::ALL.iter().map(|cache| cache.bound().as_str()).collect();
        bounds.sort_unstable();
        bounds.dedup();
        assert_eq!(bounds.len(), CacheName::ALL.len());
    }
}
