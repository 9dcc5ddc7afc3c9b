//! The columns of an event, in one list. The same names are in segments, in questions, in answers and in the docs.

use crate::row::Row;
use telemetry::Op;

/// The form of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnKind {
    /// A text. Empty: the event has none. Coded: each block of rows has a list of its texts, and the cells are places in it.
    Text,
    /// A count, an amount in bytes or a status. 0 where the event has none.
    Number,
    /// A time in microseconds, which questions and answers state in milliseconds. 0 where the event has none.
    Duration,
    /// A moment, in milliseconds since 1970-01-01T00:00:00Z.
    Moment,
    /// The id of an event: 64 bits, written as 16 hexadecimal digits. 0 where there is none.
    Id,
}

/// A cell of a row, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Of a column of texts.
    Text(&'a str),
    /// Of any other column: a count, microseconds, milliseconds since the epoch, or the bits of an id.
    Number(i64),
}

macro_rules! columns {
    ($($name:ident $text:literal $kind:ident $otel:literal $doc:literal $take:expr;)*) => {
        telemetry::closed_list! {
            /// A column. The text is its name in segments, questions and answers. The order of declaration is that of segments.
            #[derive(Hash, PartialOrd, Ord)]
            #[repr(u8)]
            pub enum Column { $(#[doc = $doc] $name = $text,)* }
        }

        impl Column {
            /// The form of its cells.
            pub fn kind(self) -> ColumnKind {
                match self { $(Column::$name => ColumnKind::$kind,)* }
            }

            /// The attribute of the OpenTelemetry semantic conventions with the same meaning. Empty: there is none.
            pub fn otel(self) -> &'static str {
                match self { $(Column::$name => $otel,)* }
            }

            /// Its meaning, for people.
            pub fn doc(self) -> &'static str {
                match self { $(Column::$name => $doc,)* }
            }

            /// The cell of a row.
            pub fn cell<'a>(self, row: &'a Row<'_>) -> Cell<'a> {
                match self { $(Column::$name => columns!(@cell $kind, row, $take),)* }
            }
        }
    };
    (@cell Text, $row:ident, $take:expr) => { Cell::Text(texts($row, $take)) };
    (@cell $kind:ident, $row:ident, $take:expr) => { Cell::Number(numbers($row, $take)) };
}

// Both help the compiler to infer the type of a closure.
fn texts<'a, 'b>(row: &'a Row<'b>, take: impl for<'c> Fn(&'c Row<'b>) -> &'c str) -> &'a str {
    take(row)
}

fn numbers<'b>(row: &Row<'b>, take: impl Fn(&Row<'b>) -> i64) -> i64 {
    take(row)
}

columns! {
    At "at" Moment "" "When the request or job began" |row| row.event.at.0;
    Id "id" Id "" "The id of the event, as in the header `Daylight-Event`; it names its time" |row| row.event.id.0.cast_signed();
    Kind "kind" Text "" "`request` or `job`" |row| row.event.kind.as_str();
    Class "class" Text "" "The cost class in which the request had a place" |row| row.event.class.map_or("", |class| class.as_str());
    Layer "layer" Text "" "The layer that gave the answer: `page`, `open`, `hosted`, `remote`, `group`, `app_cache`, `app_pages`, `app`, `admin` or `none`" |row| row.event.layer.as_str();
    Method "method" Text "http.request.method" "The method of a request, or the name of a job" |row| row.event.method;
    Protocol "protocol" Text "network.protocol.version" "`HTTP/1.1` or `HTTP/2`" |row| row.event.protocol;
    Repository "repository" Text "" "The repository, or the application" |row| &row.event.subject.repository;
    RepositoryKind "repository_kind" Text "" "`hosted`, `remote` or `group`" |row| row.repository_kind;
    Format "format" Text "" "The format of the repository: `gem`, `maven` or `raw`" |row| row.format;
    Package "package" Text "" "The package: a gem's name, or `GROUP:ARTIFACT`" |row| &row.event.subject.package;
    Version "version" Text "artifact.version" "The version, with its platform or classifier" |row| &row.event.subject.version;
    File "file" Text "" "The kind of file or operation: `gem`, `info`, `versions`, `push`" |row| row.event.subject.kind;
    Path "path" Text "url.path" "The requested path, without the query" |row| &row.event.path;
    Client "client" Text "client.address" "The address of the client, as `telemetry.client_addresses` records it" |row| &row.event.client;
    ClientProduct "client_product" Text "" "The client program: `bundler`, `rubygems`, `maven`" |row| row.agent.product;
    ClientVersion "client_version" Text "" "The version of the client program" |row| row.agent.version;
    Ci "ci" Text "" "The CI system of the client, as Bundler names it" |row| row.agent.ci;
    Run "run" Text "" "The run of Bundler: the same for all requests of one `bundle install`" |row| row.agent.run;
    Token "token" Text "user.id" "The name of the token" |row| &row.event.token;
    Status "status" Number "http.response.status_code" "The status; 0 if none was sent" |row| row.event.status.into();
    Outcome "outcome" Text "" "How it ended" |row| row.event.outcome.map_or("", |outcome| outcome.as_str());
    Reason "reason" Text "error.type" "Why it ended so" |row| row.event.reason.map_or("", |reason| reason.as_str());
    BytesIn "bytes_in" Number "http.request.body.size" "Bytes of the body that were received" |row| whole(row.event.bytes_in);
    BytesOut "bytes_out" Number "http.response.body.size" "Bytes of the body that were sent" |row| whole(row.event.bytes_out);
    FirstByte "first_byte_ms" Duration "" "From the first byte of the request to the first byte of its reply" |row| micros(row.event.first_byte);
    Duration "duration_ms" Duration "http.server.request.duration" "From the first byte of the request to the last byte of its reply (of live events, to the first), or the time of a job" |row| micros(row.event.duration);
    Size "size" Number "" "How much was asked for: gems, members, rows or files" |row| row.more(|more| more.size.into());
    Members "members" Number "" "The members of the group that were queried" |row| row.queried;
    AnsweredBy "answered_by" Text "" "The member of the group that had the answer" |row| row.answered_by;
    AnsweredPlace "answered_place" Number "" "Its place among the members in the answer, from 1" |row| row.answered_place;
    MembersSaid "members_said" Text "" "The results of the members, in their order: `a:hit b:not_found`" |row| &row.members_said;
    SlowestMember "slowest_member" Text "" "The member that took longest" |row| row.slowest_member;
    SlowestMemberTime "slowest_member_ms" Duration "" "How long the slowest member took" |row| micros(row.slowest_nanos);
    UpstreamHost "upstream_host" Text "server.address" "The upstream host that was called last" |row| row.upstream_text(|used| &used.host);
    UpstreamStatus "upstream_status" Number "" "The status of its last response" |row| row.upstream(|used| used.status.into());
    UpstreamCalls "upstream_calls" Number "" "Calls to upstreams" |row| row.upstream(|used| used.calls.into());
    UpstreamConnects "upstream_connects" Number "" "Connections to upstreams that were opened" |row| row.upstream(|used| used.connects.into());
    UpstreamBytes "upstream_bytes" Number "" "Bytes of the bodies of upstreams' responses" |row| row.upstream(|used| whole(used.bytes));
    Lane "lane" Text "" "The lane of the application, by its first path; empty: the slots that no lane has" |row| row.app_text(|used| &used.lane);
    Backend "backend" Text "" "The backend of the application that answered last" |row| row.app_text(|used| &used.backend);
    AppCache "app_cache" Text "" "The state of the cache of the application, as `Cache-Status` names it: `hit`, `fwd=miss`" |row| row.event.app_cache();
    AppPage "app_page" Text "" "What became of the page that the application wrote: `hit`, `miss`, `old`; empty: there is none for this request" |row| row.event.app_page();
    Ahead "ahead" Number "" "Requests that waited for the same slots of the application when it arrived" |row| row.app(|used| used.ahead.into());
    AppBody "app_body_ms" Duration "" "From the head of the application's response to its last byte; its slot is free then" |row| row.nanos(Op::AppBody);
    ServerTiming "server_timing" Text "" "What the application sent as `Server-Timing`" |row| row.app_text(|used| &used.server_timing);
    Flight "flight" Id "" "The event of the download for which the request waited" |row| row.upstream(|used| used.flight.map_or(0, |id| id.0.cast_signed()));
    Trace "trace" Text "" "The id of the client's trace, if it is sampled" |row| &row.trace;
    InFlight "in_flight" Number "" "Requests in progress on the core when it arrived" |row| row.arrival(|arrival| arrival.in_flight.into());
    Late "late_ms" Duration "" "How late the event loop was when it arrived" |row| row.arrival(|arrival| micros(arrival.late));
    ClassUsed "class_used" Number "" "Places of the cost class that were taken when it arrived" |row| row.arrival(|arrival| arrival.class_used.into());
    QueuedOutside "queued_outside_ms" Duration "" "How long it waited before it reached the server, as a trusted proxy told" |row| row.more(|more| micros(more.queued_outside));
    HeadRead "head_read_ms" Duration "" "Reading and parsing the request head" |row| line(row, Column::HeadRead);
    BodyReceive "body_receive_ms" Duration "" "Waiting for bytes of an upload" |row| line(row, Column::BodyReceive);
    ClassQueue "queue_wait_ms" Duration "" "Waiting for threads of the server: for blobs, databases and rendering" |row| line(row, Column::ClassQueue);
    TurnWait "turn_wait_ms" Duration "" "Waiting for other requests that use the same thing" |row| line(row, Column::TurnWait);
    LoopWait "loop_wait_ms" Duration "" "Waiting for the event loop of the core" |row| line(row, Column::LoopWait);
    Truth "truth_ms" Duration "db.client.operation.duration" "Reading and changing the truth database" |row| line(row, Column::Truth);
    Cache "cache_ms" Duration "" "Reading and changing the cache database" |row| line(row, Column::Cache);
    Blob "blob_ms" Duration "" "Opening, reading, writing and syncing blobs" |row| line(row, Column::Blob);
    Render "render_ms" Duration "" "Reading packages, rendering and merging indexes, hashing" |row| line(row, Column::Render);
    MembersAsk "members_ask_ms" Duration "" "Asking the members of a group" |row| line(row, Column::MembersAsk);
    FlightWait "flight_wait_ms" Duration "" "Waiting for a download from an upstream" |row| line(row, Column::FlightWait);
    Upstream "upstream_ms" Duration "" "Calling upstreams: connecting, waiting and reading" |row| line(row, Column::Upstream);
    AppWait "app_wait_ms" Duration "" "Waiting for a slot of the application or of its lane" |row| line(row, Column::AppWait);
    AppPages "app_pages_ms" Duration "" "Reading a page that the application wrote, from its store" |row| line(row, Column::AppPages);
    App "app_ms" Duration "" "The application at work: from connecting to the head of its response" |row| line(row, Column::App);
    ReplyWrite "reply_write_ms" Duration "" "From the complete answer to its first byte in the kernel" |row| line(row, Column::ReplyWrite);
    BodySend "body_send_ms" Duration "" "From the first byte of the response to its last" |row| line(row, Column::BodySend);
    Other "other_ms" Duration "" "All other operations on the line of the work" |row| row.other_line();
    Unaccounted "unaccounted_ms" Duration "" "The time in which no operation ran; with the operations before it, it adds up to the duration" |row| row.event.unaccounted() / 1000;
    TruthReads "truth_reads" Number "" "Reads of the truth database, those of members included" |row| row.runs(Op::TruthRead);
    CacheReads "cache_reads" Number "" "Reads of the cache database, those of members included" |row| row.runs(Op::CacheRead);
    BlobReads "blob_reads" Number "" "Reads of blobs, those of members included" |row| row.runs(Op::BlobRead);
    Weight "weight" Number "" "How many events this one stands for" |row| row.event.weight.into();
    KeptBecause "kept_because" Text "" "Why it is stored: `failed`, `member`, `slow`, `traced`, `job`, `sample` or `all`" |row| row.event.because.as_str();
    More "more" Text "" "The parts that have no column, as JSON; only of events that are stored because of trouble" |row| &row.more;
}

/// Durations of operations on the line of the work. With [`Column::Unaccounted`] they add up to [`Column::Duration`], except for
/// rounding to microseconds.
pub const LINE: &[Column] =
    Column::ALL.split_at(Column::Unaccounted as usize + 1).0.split_at(Column::HeadRead as usize).1;

/// The time of the operations of a column of [`LINE`], in microseconds.
fn line(row: &Row<'_>, column: Column) -> i64 {
    row.line(column as usize - Column::HeadRead as usize)
}

/// Nanoseconds as microseconds, rounded down.
fn micros(nanos: u64) -> i64 {
    (nanos / 1000).cast_signed()
}

fn whole(amount: u64) -> i64 {
    i64::try_from(amount).unwrap_or(i64::MAX)
}

impl Column {
    /// The column of that name.
    pub fn read(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|column| column.as_str() == name)
    }
}
