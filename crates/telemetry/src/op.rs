//! Every operation that can take time, in one list. Nothing else can be timed, and a test checks that each is recorded somewhere.

macro_rules! ops {
    ($($name:ident $text:literal $doc:literal;)*) => {
        /// An operation that takes time. The text is its name in events, metrics and status pages.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Op { $(#[doc = $doc] $name,)* }

        impl Op {
            /// All of them, in the order of declaration.
            pub const ALL: &'static [Op] = &[$(Op::$name,)*];
            /// How many there are.
            pub const COUNT: usize = Self::ALL.len();

            /// The name used in events and metrics: `noun.verb`.
            pub fn as_str(self) -> &'static str {
                match self { $(Op::$name => $text,)* }
            }

            /// What it is, for people.
            pub fn doc(self) -> &'static str {
                match self { $(Op::$name => $doc,)* }
            }
        }
    };
}

ops! {
    PageLookup "page.lookup" "Looking for a complete answer in memory and checking its stamp; with reading the head, where it was found";
    PageKeep "page.keep" "Putting a complete answer into memory";
    PageCompress "page.compress" "Compressing a page, on a thread that no client waits for";
    Route "route.read" "Reading the URL into a question";
    ReplyMake "reply.make" "Turning an outcome into headers and a body";
    TlsHandshake "tls.handshake" "Agreeing with the client on a TLS connection, before its first request";
    BodyReceive "body.receive" "Waiting for bytes of an upload from the client";
    BodySend "body.send" "From the first byte of the reply to its last";
    TruthWait "truth.wait" "Waiting for a reader thread of the truth database";
    TruthRead "truth.read" "Reading the truth database";
    CommitWait "truth.commit.wait" "Waiting for the writer's turn";
    Commit "truth.commit" "A write transaction of the truth database with all who share it, sync included";
    CacheWait "cache.wait" "Waiting for a thread of the cache database";
    CacheRead "cache.read" "Reading the cache database";
    CacheWrite "cache.write" "A write transaction of the cache database";
    BlobWait "blob.wait" "Waiting for a thread that touches blobs";
    BlobWrite "blob.write" "Writing and hashing an upload's bytes into a temporary file";
    BlobSync "blob.sync" "Syncing a blob and its folder, and giving it its name";
    BlobCollect "blob.collect" "Deleting blobs that nothing needs any more, in the writer's turn";
    BlobOpen "blob.open" "Opening a blob";
    BlobRead "blob.read" "Reading a piece of a blob";
    IndexKeep "index.keep" "Writing what an index is put together from into the data folder, where no client waits";
    IndexRead "index.read" "Reading what an index is put together from, and checking that it is whole";
    FlightWait "flight.wait" "Waiting for a fetch from an upstream, perhaps begun for another";
    Hash "hash" "Computing the digests of a file that is in memory";
    UpstreamWait "upstream.wait" "Waiting for a place among the calls to an upstream's host";
    UpstreamConnect "upstream.connect" "Finding an upstream's address and making a connection to it, with TLS and through a proxy where there are";
    UpstreamFirstByte "upstream.first_byte" "From a request to an upstream to the head of its answer";
    UpstreamBody "upstream.body" "Waiting for bytes of an upstream's answer";
    SegmentShip "segment.ship" "Copying journal rows into a segment";
    WorkWait "work.wait" "Waiting for a thread that renders, hashes or reads packages";
    PackageRead "package.read" "Reading the facts out of an uploaded package";
    FactsRead "facts.read" "Reading what is known of the versions of a package";
    IndexRender "index.render" "Rendering an index or a piece of one, and hashing it";
    ViewWait "view.wait" "Waiting for an index as policy shows it, or as of a moment: made for another, or in a turn of its own";
    Merge "documents.merge" "Making one document of what the members of a group say";
    IndexExtend "index.extend" "Adding what changed to an index, which costs the same whatever is in it";
    ReferencesRead "references.read" "Reading the secrets and certificates that the settings of a repository refer to";
    EventsWait "events.wait" "Waiting until finished events have passed the sinks, for who asks for one by its id";
    TokenCheck "token.check" "Hashing a presented token and comparing it";
    Check "store.check" "Checking rows, blobs, journal and segments against each other";
    Rebuild "store.rebuild" "Replaying segments into a new truth database";
    Backup "store.backup" "Copying a data folder into a backup";
    Restore "store.restore" "Copying a backup into a data folder";
    Rehearse "store.rehearse" "Trying this version of the program on a copy of the truth database";
}
