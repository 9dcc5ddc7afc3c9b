//! Every operation that can take time, in one list. Nothing else can be timed, and a test checks that each is recorded somewhere.

pub(crate) mod open_requests;
pub(crate) mod running_op;
pub(crate) mod runs;
pub(crate) mod under_way;

/// Where an operation runs, relative to the request or job whose event records it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OpPlace {
    /// On the line of the work: nothing else of the event runs at the same time, except operations inside it. The operations on the line
    /// and the unaccounted time add up to the duration.
    Line,
    /// Within an operation on the line, before the first byte of the request, or beside the line: its time is part of another operation's
    /// time, or the request did not wait for it.
    Inside,
}

macro_rules! ops {
    ($($name:ident $place:ident $text:literal $doc:literal;)*) => {
        crate::closed_list! {
            /// An operation that takes time. The text is its name in events, metrics and status pages: `noun.verb`.
            #[derive(Hash)]
            #[repr(u8)]
            pub enum Op { $(#[doc = $doc] $name = $text,)* }
        }

        impl Op {
            /// Whether it is on the line of the work or inside another operation.
            pub fn place(self) -> OpPlace {
                match self { $(Op::$name => OpPlace::$place,)* }
            }

            /// What it is, for people.
            pub fn doc(self) -> &'static str {
                match self { $(Op::$name => $doc,)* }
            }
        }
    };
}

ops! {
    PageLookup Line "page.lookup" "Finding a complete response in memory and checking its stamp; after a hit this includes parsing the request head; in vain if the response had changed";
    PageKeep Line "page.keep" "Putting a complete response into memory; in vain if there is no room for one that is requested for the first time";
    PageCompress Inside "page.compress" "Compressing a cached response, on a thread that no client waits for";
    Route Line "route.read" "Parsing the URL";
    ReplyMake Line "reply.make" "Making headers and a body from an answer";
    ReplyWrite Line "reply.write" "From the complete answer to its first byte in the kernel: writing the head, waiting for the turn of the connection, and reading the first piece of a file that is not in memory";
    TlsHandshake Inside "tls.handshake" "The TLS handshake with the client, before the first byte of its first request";
    HeadRead Line "head.read" "From the first byte of a request head to its last";
    HeadParse Line "head.parse" "From the last byte of a request head until its work begins: parsing the head";
    BodyReceive Line "body.receive" "Waiting for bytes of an upload";
    BodySend Line "body.send" "From the first byte of the response to its last";
    BodyRead Inside "body.read" "Reading pieces of a file while the response is sent";
    BodyWait Inside "body.wait" "Waiting for more of a body while the response is written: of a file that still arrives from its upstream, or for the next live event";
    TruthWait Line "truth.wait" "Waiting for a reader thread of the truth database";
    TruthRead Line "truth.read" "Reading the truth database";
    CommitWait Line "truth.commit.wait" "Waiting for the writer of the truth database";
    Commit Line "truth.commit" "A transaction of the truth database with all batches in it, sync included";
    NodesWait Line "nodes.wait" "Waiting for the answers of other nodes, and of this one, to a question about requests, an event or findings";
    NodesMerge Line "nodes.merge" "Merging the answers of nodes to a question about events";
    CommitEverywhere Line "truth.commit.everywhere" "Waiting until every node has a committed change that calls its answers fresh";
    DatabaseConnect Inside "database.connect" "Connecting to PostgreSQL, TLS, its greeting and a look at the journal there included";
    DatabaseAppend Inside "database.append" "A commit in PostgreSQL: its one round trip, or more where another node wrote first or a connection broke; part of a transaction of the truth database";
    DatabaseRead Inside "database.read" "Reading journal rows from PostgreSQL into the truth database of this machine";
    CacheWait Line "cache.wait" "Waiting for a thread of the cache database";
    CacheRead Line "cache.read" "Reading the cache database";
    CacheWrite Line "cache.write" "A transaction of the cache database";
    BlobWait Line "blob.wait" "Waiting for a thread for blobs";
    BlobWrite Line "blob.write" "Writing and hashing an upload's bytes into a temporary file";
    BlobSync Line "blob.sync" "Syncing a blob and its folder, and renaming it to its digest";
    BlobCollect Line "blob.collect" "Deleting unused blobs, in the writer's turn";
    BlobOpen Line "blob.open" "Opening a blob";
    BlobRead Line "blob.read" "Reading a piece of a blob";
    ObjectWait Line "object.wait" "Waiting for memory for the bytes of an object, or for a place among the operations on object storage";
    ObjectPut Line "object.put" "Sending a blob or a segment to object storage, until it has taken it";
    ObjectGet Line "object.get" "Getting bytes from object storage and verifying them";
    ObjectLook Line "object.look" "Asking object storage whether it has an object, and of which size";
    ObjectList Line "object.list" "Listing objects in object storage";
    ObjectDelete Line "object.delete" "Deleting an object from object storage";
    IndexKeep Line "index.keep" "Writing the pieces of an index into the data folder, where no client waits";
    IndexRead Line "index.read" "Reading the pieces of an index from the data folder and checking their digests";
    FlightWait Line "flight.wait" "Waiting for a download from an upstream, which this request or an earlier one began";
    DigestsMake Line "digests.make" "Making the MD5 and the SHA-512 of a cached file, which got neither when it arrived";
    Hash Line "hash" "Computing the digests of a file that is in memory";
    UpstreamWait Line "upstream.wait" "Waiting for a place among the calls to an upstream host";
    UpstreamPause Line "upstream.pause" "Waiting until the pause has ended that an upstream asked for (429, or 503 with `Retry-After`)";
    UpstreamResolve Line "upstream.resolve" "Resolving the name of an upstream or of its proxy";
    UpstreamTcp Line "upstream.tcp" "Connecting to an upstream or to its proxy";
    UpstreamProxy Line "upstream.proxy" "Waiting until a proxy has opened a tunnel to an upstream";
    UpstreamTls Line "upstream.tls" "The TLS handshake with an upstream";
    UpstreamFirstByte Line "upstream.first_byte" "From a request to an upstream to the head of its response";
    UpstreamBody Line "upstream.body" "Waiting for bytes of an upstream's response body";
    BodyDecode Line "body.decode" "Decoding a gzip body of an upstream's response";
    KojiCall Inside "koji.call" "A call to a Koji hub, from the questions to the last byte of the answers";
    KojiRead Line "koji.read" "Reading a piece of the answers of a Koji hub";
    AppCacheLookup Line "app_cache.lookup" "Finding a stored response of an application, and whether it may be used";
    AppCacheWait Line "app_cache.wait" "Waiting for the response to another request for the same page of an application, which may then be reused";
    AppPagesRead Line "app_pages.read" "Waiting for a server that keeps the pages of an application";
    AppPagesMake Line "app_pages.make" "Reading an entry that an application wrote, and decoding its body if need be";
    AppWait Line "app.wait" "Waiting for a slot of an application, or of one of its lanes";
    AppConnect Line "app.connect" "Connecting to a backend of an application; while its command starts, waiting for its port";
    AppAnswer Line "app.answer" "From a request to an application to the head of its response";
    AppBody Inside "app.body" "From the head of an application's response to its last byte; the slot is free then, however slowly the client reads";
    SpoolWrite Inside "spool.write" "Writing a part of an upload or of an application's response into an anonymous file";
    SegmentShip Line "segment.ship" "Copying journal rows into a segment";
    WorkWait Line "work.wait" "Waiting for a thread that renders, hashes or reads packages";
    PackageRead Line "package.read" "Reading the metadata of an uploaded package";
    FactsRead Line "facts.read" "Reading the rows of a package's versions";
    IndexRender Line "index.render" "Rendering an index or a piece of one, and hashing it";
    ViewWait Line "view.wait" "Waiting for an index that a policy filters, or of an earlier moment: another request renders it, or others are rendered first";
    TurnWait Line "turn.wait" "Waiting for another task that reads or changes the same settings, tokens, index or upstream, or reads a gem for a page";
    LoopWait Line "loop.wait" "From the end of work on another thread until the event loop continues with its result, or while longer work on the loop lets other requests go first; a long wait means that the core was busy or had no processor";
    Merge Line "documents.merge" "Merging the documents of a group's members";
    MembersAsk Line "members.ask" "Asking the members of a group, several at a time; the record of each member has the operations that it ran";
    FoldersChange Line "folders.change" "Changing several folders of a tree at the same time; what ran for each is in `beside`";
    IndexExtend Line "index.extend" "Appending a change to an index, at a cost that does not depend on the index's size";
    KojiApply Line "koji.apply" "Making the map of a Koji repository from the changes of a look, or from the rows of the journal";
    ReferencesRead Line "references.read" "Reading the secrets and certificates that the settings of a repository refer to";
    EventsRead Line "events.read" "Reading stored events, for a request that looks one up by its id, or computing sizes from their counts";
    EventsWait Line "events.wait" "Waiting until the sinks have stored the events, for a request that looks one up by its id or asks about events";
    AskWait Line "asks.wait" "Waiting for the answer to a question about events, which a thread of its own makes";
    ProfileWait Line "profile.wait" "Waiting for a profile of the server, which takes as long as its caller asks";
    MetricsWrite Line "metrics.write" "Waiting until `/metrics` is written, by a thread of its own";
    OtlpSend Inside "otlp.send" "Requests to the OpenTelemetry receiver since the last job `otlp`, from the connection to the response; no request waits for them";
    TokenCheck Line "token.check" "Hashing a token and comparing it";
    AlertSend Line "alert.send" "Sending alerts to a receiver, until it has taken them";
    AcmeCall Line "acme.call" "A call to an authority for certificates (ACME), from the connection to the last byte";
    AcmeWait Line "acme.wait" "Waiting until an authority has checked the names of a certificate or has made it, between two calls";
    AcmeKeep Line "acme.keep" "Writing an account or a certificate of an authority into the data folder";
    Check Line "store.check" "Checking rows, blobs, journal and segments against each other";
    Rebuild Line "store.rebuild" "Replaying segments into a new truth database";
    Adopt Line "store.adopt" "Moving a data folder into the database and object storage";
    Backup Line "store.backup" "Copying a data folder into a backup";
    Restore Line "store.restore" "Copying a backup into a data folder";
    Rehearse Line "store.rehearse" "Testing an upgrade on a copy of the truth database";
}

impl Op {
    /// The operations that set up a connection to an upstream.
    pub const OF_SET_UP: [Self; 4] = [Self::UpstreamResolve, Self::UpstreamTcp, Self::UpstreamProxy, Self::UpstreamTls];

    /// The operations of a call of an upstream, in the order in which they run.
    pub const OF_CALLS: [Self; 8] = [
        Self::UpstreamWait,
        Self::UpstreamPause,
        Self::UpstreamResolve,
        Self::UpstreamTcp,
        Self::UpstreamProxy,
        Self::UpstreamTls,
        Self::UpstreamFirstByte,
        Self::UpstreamBody,
    ];
}

/// How often an [`Op`] ran for an event, and how long in total.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The number of runs.
    pub count: u32,
    /// The runs among them that changed nothing.
    pub vain: u32,
    /// Their total time in nanoseconds.
    pub nanos: u64,
}

impl Tally {
    /// Adds other runs of the same op.
    pub(crate) fn join(&mut self, other: Tally) {
        self.count = self.count.saturating_add(other.count);
        self.vain = self.vain.saturating_add(other.vain);
        self.nanos = self.nanos.saturating_add(other.nanos);
    }
}
