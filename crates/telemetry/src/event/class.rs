//! The cost classes of requests. Limits of concurrent requests and figures of events use the same list.

macro_rules! classes {
    ($($name:ident $text:literal $doc:literal $about:literal;)*) => {
        crate::closed_list! {
            /// The cost class of a request. Pages, probes of liveness and metrics have none.
            #[derive(Hash, PartialOrd, Ord)]
            #[repr(u8)]
            pub enum Class { $(#[doc = $about] $name = $text,)* }
        }

        impl Class {
            /// The plural noun for its requests, in the error for too many of them.
            pub fn doc(self) -> &'static str {
                match self { $(Class::$name => $doc,)* }
            }
        }
    };
}

classes! {
    Small "pages" "requests" "A small answer from memory, and paths that the format does not have.";
    Downloads "downloads" "downloads" "A file or a checksum: one entry is read, one blob opened.";
    Uploads "uploads" "uploads" "A change of a repository: bytes come in, are hashed and synced.";
    DynamicIndex "dynamic_index" "requests for indexes" "An index that is not in memory: many rows are read and rendered.";
    Admin "admin" "requests to the API" "The admin API.";
    Web "web" "requests for web pages" "Web pages for people.";
    Ask "ask" "questions about events" "Questions about stored events. One thread answers them.";
    Accounts "accounts" "requests about accounts and owners" "Keys that clients make, and who owns a gem.";
    Forms "forms" "forms" "A small body that is still arriving: a form, a hook, or a call of the API. Its request takes a place in another class afterwards, so a slow client occupies no place there. Each rejection ended the slowest one.";
    Hooks "hooks" "hooks" "Hooks that upstreams changed, whose bodies have arrived.";
    Apps "apps" "requests for the application" "A request for an application in front of which the server stands. Its lanes limit them.";
    Health "health" "probes" "Readiness probes.";
}
