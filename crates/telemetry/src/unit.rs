//! The units of bounds: bytes, or things that are counted one by one.

macro_rules! units {
    ($($name:ident $text:literal;)*) => {
        /// What a bound counts. Metrics keep bytes apart from everything else.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Unit { $(#[doc = $text] $name,)* }

        impl Unit {
            /// Its name, in the plural.
            pub fn as_str(self) -> &'static str {
                match self { $(Unit::$name => $text,)* }
            }
        }
    };
}

units! {
    Buffers "buffers";
    Bytes "bytes";
    Calls "calls";
    Commits "commits";
    Connections "connections";
    Events "events";
    Fetches "fetches";
    Files "files";
    Hints "hints";
    Indexes "indexes";
    Jobs "jobs";
    Lines "lines";
    Operations "operations";
    Pages "pages";
    Reads "reads";
    Requests "requests";
    Uses "uses";
}
