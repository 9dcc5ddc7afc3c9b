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
    PageLookup "page.lookup" "Finding a complete response in memory and checking its stamp; after a hit this includes parsing the request head";
    PageKeep "page.keep" "Putting a complete response into memory";
    PageCompress "page.compress" "Compressing a cached response, on a thread that no client waits for";
    Route "route.read" "Parsing the URL";
    ReplyMake "reply.make" "Making headers and a body from an answer";
    TlsHandshake "tls.handshake" "The TLS handshake with the client";
    BodyReceive "body.receive" "Waiting for bytes of an upload";
    BodySend "body.send" "From the first byte of the response to its last";
    TruthWait "truth.wait" "Waiting for a reader thread of the truth database";
    TruthRead "truth.read" "Reading the truth database";
    CommitWait "truth.commit.wait" "Waiting for the writer of the truth database";
    Commit "truth.commit" "A transaction of the truth database with all batches in it, sync included";
    CacheWait "cache.wait" "Waiting for a thread of the cache database";
    CacheRead "cache.read" "Reading the cache database";
    CacheWrite "cache.write" "A transaction of the cache database";
    BlobWait "blob.wait" "Waiting for a thread for blobs";
    BlobWrite "blob.write" "Writing and hashing an upload's bytes into a temporary file";
    BlobSync "blob.sync" "Syncing a blob and its folder, and renaming it to its digest";
    BlobCollect "blob.collect" "Deleting unused blobs, in the writer's turn";
    BlobOpen "blob.open" "Opening a blob";
    BlobRead "blob.read" "Reading a piece of a blob";
    IndexKeep "index.keep" "Writing the pieces of an index into the data folder, where no client waits";
    IndexRead "index.read" "Reading the pieces of an index from the data folder and checking their digests";
    FlightWait "flight.wait" "Waiting for a download from an upstream, which another request may have started";
    Hash "hash" "Computing the digests of a file that is in memory";
    UpstreamWait "upstream.wait" "Waiting for a place among the calls to an upstream host";
    UpstreamConnect "upstream.connect" "Connecting to an upstream: DNS, proxy, TCP and TLS";
    UpstreamFirstByte "upstream.first_byte" "From a request to an upstream to the head of its response";
    UpstreamBody "upstream.body" "Waiting for bytes of an upstream's response body";
    BodyDecode "body.decode" "Decoding a gzip body of an upstream's response";
    SegmentShip "segment.ship" "Copying journal rows into a segment";
    WorkWait "work.wait" "Waiting for a thread that renders, hashes or reads packages";
    PackageRead "package.read" "Reading the metadata of an uploaded package";
    FactsRead "facts.read" "Reading the rows of a package's versions";
    IndexRender "index.render" "Rendering an index or a piece of one, and hashing it";
    ViewWait "view.wait" "Waiting for an index that a policy filters, or of an earlier moment: another request renders it, or others are rendered first";
    Merge "documents.merge" "Merging the documents of a group's members";
    IndexExtend "index.extend" "Appending a change to an index, at a cost that does not depend on the index's size";
    ReferencesRead "references.read" "Reading the secrets and certificates that the settings of a repository refer to";
    EventsWait "events.wait" "Waiting until the sinks have stored the events, for a request that looks one up by its id";
    TokenCheck "token.check" "Hashing a token and comparing it";
    Check "store.check" "Checking rows, blobs, journal and segments against each other";
    Rebuild "store.rebuild" "Replaying segments into a new truth database";
    Backup "store.backup" "Copying a data folder into a backup";
    Restore "store.restore" "Copying a backup into a data folder";
    Rehearse "store.rehearse" "Testing an upgrade on a copy of the truth database";
}
