//! The units of bounds: bytes, or items.

macro_rules! units {
    ($($name:ident $text:literal;)*) => {
        /// The unit of a bound. Metrics keep bytes apart from items.
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
    Alerts "alerts";
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
    Keys "keys";
    Lines "lines";
    Operations "operations";
    Pages "pages";
    Questions "questions";
    Reads "reads";
    Requests "requests";
    Uses "uses";
}
