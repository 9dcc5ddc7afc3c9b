//! The settings. Each key is declared once, with its documentation, type, default, reason for the default, and limits. Everything
//! else is derived from that.

use super::acme::{Contacts, DirectoryUrl, EabKeyId, SecretReference, ServerNames};
use super::alerts::DeclaredReceiver;
use super::apps::AppSettings;
use super::cluster::{Acknowledge, DRAIN_S, DatabaseTrust, NodeName, OptionalDatabase, STALE_PRIVATE_S};
use super::error::Error;
use super::findings::DeclaredFinding;
use super::key::KeySpec;
use super::objects::{EndpointUrl, ObjectsUrl, Region};
use super::receivers::{HostPort, ReceiverUrl, VariableName};
use super::references::References;
use super::repositories::DeclaredRepository;
use super::shares::Shares;
use super::sources::Sources;
use super::value::{
    AccessLog, JsonLines, Networks, OptionalAddress, OptionalUpstream, Prefix, PublicUrl, ServerTiming,
    StoredPerSecond, UpstreamUrl, Value,
};
use client::Secret;
use front::ClientFrom;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use telemetry::ClientAddresses;
use telemetry::log::{Level, LineFormat};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

macro_rules! keys {
    ($($(#[doc = $about:literal])+ $path:literal as $section:ident: $type:ident {
        $($(#[doc = $doc:literal])+ $key:ident: $value:ty = $default:expr $(, $low:literal..=$high:literal)?;)*
    })*) => {
        $(
            $(#[doc = $about])+
            #[derive(Debug, Clone)]
            pub struct $type { $($(#[doc = $doc])+ pub $key: $value,)* }
        )*

        /// Every setting, resolved. Plain values: nobody looks one up by name.
        #[derive(Debug, Clone)]
        pub struct Settings {
            $($(#[doc = $about])+ pub $section: $type,)*
            /// `DAYLIGHT_ADMIN_TOKEN`: the secret of the admin token, in place of one made at the first start.
            pub admin_token: Option<Secret>,
            /// `serve --conformance`: for the conformance suite of gem servers, on loopback.
            pub conformance: bool,
            /// `DAYLIGHT_CONFORMANCE_KEY`: what that suite shows, good for everything.
            pub conformance_key: Option<Secret>,
            /// What the settings of repositories may refer to.
            pub references: References,
            /// `[[repository]]`: repositories that exist at every start.
            pub repositories: Vec<DeclaredRepository>,
            /// `[[finding]]`: findings that a team defines.
            pub findings: Vec<DeclaredFinding>,
            /// `[[alerts.to]]`: who is told of findings as they open and close.
            pub alerts: Vec<DeclaredReceiver>,
            /// `[[app]]` and the command line of `daylight front`: the applications in front of which it stands. Empty elsewhere.
            pub apps: Vec<AppSettings>,
        }

        /// Every key, in this order.
        pub(super) const KEYS: &[KeySpec] = &[$($(KeySpec {
            section: $path,
            name: stringify!($key),
            path: concat!($path, ".", stringify!($key)),
            doc: concat!($($doc),+),
            expects: <$value as Value>::EXPECTS,
            quoted: <$value as Value>::QUOTED,
            either: <$value as Value>::EITHER,
            limits: keys!(@limits $($low $high)?),
        },)*)*];

        impl Settings {
            pub(super) fn resolve(shares: &Shares, sources: &mut Sources<'_>) -> Result<Self, Error> {
                // The keys are in the order of the fields, so each field takes the next key.
                let mut keys = KEYS.iter();
                Ok(Self {
                    $($section: $type {
                        $($key: {
                            let default: fn(&Shares) -> ($value, std::borrow::Cow<'static, str>) = $default;
                            let (default, reason) = default(shares);
                            sources.take(&mut keys, default, reason)?
                        },)*
                    },)*
                    admin_token: None,
                    conformance: false,
                    conformance_key: None,
                    references: References::default(),
                    repositories: Vec::new(),
                    findings: Vec::new(),
                    alerts: Vec::new(),
                    apps: Vec::new(),
                })
            }
        }
    };
    (@limits) => { None };
    (@limits $low:literal $high:literal) => { Some(($low, $high)) };
}

keys! {
    /// Sockets and the limits for requests.
    "server" as server: Server {
        /// Address and port to listen on. Port 0 takes a free port.
        listen: SocketAddr = Shares::listen;
        /// Address and port for plain HTTP beside TLS, such as `0.0.0.0:80`: it redirects to the URL with `https`, and answers the
        /// authority of `server.acme`. Without it the server speaks only TLS, once it has a certificate.
        http_listen: OptionalAddress = |_| (OptionalAddress::default(), "tokens that are sent there can be read on the way".into());
        /// PEM file with the TLS certificate and its chain. If it is set, the server speaks only TLS. The file is read again when it
        /// changes.
        tls_certificate: PathBuf = |_| (PathBuf::new(), "no TLS, because a reverse proxy often terminates it".into());
        /// PEM file with the private key of the certificate.
        tls_key: PathBuf = |_| (PathBuf::new(), "as for `server.tls_certificate`".into());
        /// URL at which clients reach the server. Without it the server takes the URL that a trusted proxy names, or the `Host` of
        /// each request.
        public_url: PublicUrl = |_| (PublicUrl::default(), "derived from each request".into());
        /// Threads that serve requests, each with an event loop of its own.
        cores: usize = Shares::cores, 1..=1024;
        /// Memory for the cache of complete answers, in bytes.
        pages_bytes: u64 = Shares::pages_bytes, 0..=1_099_511_627_776;
        /// Memory for large indexes, in bytes. All readers of an index share it.
        indexes_bytes: u64 = Shares::indexes_bytes, 0..=1_099_511_627_776;
        /// Memory for the cache of the RubyGems dependency API, in bytes.
        dependencies_bytes: u64 = Shares::dependencies_bytes, 0..=1_099_511_627_776;
        /// Memory for gem indexes that a policy filters or that show an earlier moment, in bytes. A quarter of it is for versions of hosted
        /// packages on web pages.
        views_bytes: u64 = Shares::views_bytes, 0..=1_099_511_627_776;
        /// Memory for the names of files in folders of hosted repositories, in bytes. With them a request for a missing file needs no
        /// database.
        folders_bytes: u64 = Shares::folders_bytes, 0..=1_099_511_627_776;
        /// Memory for the state of recently pushed gems, in bytes. With it the next push of a gem reads no rows.
        pushed_gems_bytes: u64 = Shares::pushed_gems_bytes, 0..=1_099_511_627_776;
        /// Memory for the documents that groups merge at once, such as `maven-metadata.xml`, and for lists of folders, in bytes. Further ones are answered with 503.
        merging_bytes: u64 = |_| (64 << 20, "four of the largest merges, 16 MiB each".into()), 1_048_576..=1_099_511_627_776;
        /// Cached answers that are compressed at once or wait for it. Further ones are compressed after a later request.
        max_compressions: u64 = |_| (256, "one thread compresses them in about a second".into()), 1..=1_000_000;
        /// Client connections open at once. More are closed, except for `/health/live`, `/health/ready` and `/metrics`.
        max_connections: u64 = Shares::max_connections, 1..=1_000_000;
        /// Connections open at once from one IPv4 address or one IPv6 network of 64 bits. More are closed.
        max_connections_per_client: u64 = Shares::max_connections_per_client, 1..=1_000_000;
        /// Reverse proxies that may name the address of their client: addresses and networks, with commas between them.
        trusted_proxies: Networks = |_| (Networks::default(), "any other client could forge its address".into());
        /// How a trusted proxy names its client: `connection` (it does not), `proxy-protocol` (version 1 or 2, on each of its
        /// connections), `x-forwarded-for` or `forwarded`. Choose a header that your proxy always sets itself.
        client_from: ClientFrom = |_| (ClientFrom::Connection, "clients can forge this header unless a proxy sets it".into());
        /// Uploads under way at once. More are answered with 503.
        max_uploads: u64 = Shares::max_uploads, 1..=100_000;
        /// Downloads that look up their file at once. More are answered with 503. Sending the file does not count.
        max_downloads: u64 = Shares::max_downloads, 1..=1_000_000;
        /// Requests that wait for upstreams at once: at most half of them for one repository and a quarter for one client. More are
        /// answered with 503.
        max_waiting: u64 = Shares::max_waiting, 4..=1_000_000;
        /// Indexes that are built or wait to be built at once. More are answered with 503.
        max_indexes: u64 = Shares::max_indexes, 1..=1_000_000;
        /// Small answers (roots of repositories, readiness) under way at once. More are answered with 503.
        max_pages: u64 = Shares::max_pages, 1..=1_000_000;
        /// Requests to the admin API under way at once. More are answered with 503.
        max_admin: u64 = Shares::max_admin, 1..=1_000_000;
        /// Web pages for people that are made at once. More are answered with 503.
        max_web: u64 = Shares::max_web, 1..=1_000_000;
        /// Listeners to live events (`daylight tail`) at once, each with at most 1 MiB that it has not read. More are answered with 503.
        max_tails: u64 = Shares::max_tails, 0..=1000;
        /// Questions about events that are answered at once (`daylight ask`). More are answered with 503.
        max_asks: u64 = |_| (8, "one thread answers them, in turns".into()), 1..=64;
        /// Requests for API keys and owners of gems (`gem signin`, `gem owner`) under way at once. More are answered with 503.
        max_accounts: u64 = Shares::max_accounts, 1..=1_000_000;
        /// Small bodies that arrive at once: forms of at most 16 KiB (`gem signin`, `gem owner`, `gem yank`), hooks and calls of the API of at
        /// most 64 KiB. A further one ends the slowest (408), of the client or token that has the most.
        max_forms: u64 = Shares::max_forms, 1..=100_000;
        /// Part of each limit on requests, questions about events and listeners to live events that one client or one token may use at
        /// once, in percent. With 100 one client may use all of it.
        client_share_percent: u64 = |_| (50, "a team may share one address, and other clients still get through".into()), 1..=100;
        /// Largest body of a request, in bytes.
        max_upload_bytes: u64 = |_| (512 << 20, "gems are rarely above 100 MiB".into()), 1024..=1_099_511_627_776;
        /// Seconds in which the head of a request must arrive, and the body of a form after it.
        head_timeout_s: u64 = |_| (10, "a head is one or two packets".into()), 1..=3600;
        /// Seconds that a connection may stay open without a request.
        idle_timeout_s: u64 = |_| (75, "longer than clients and most load balancers keep a connection".into()), 1..=86_400;
        /// Seconds without a byte after which an upload is aborted.
        upload_idle_timeout_s: u64 = |_| (30, "a slow connection pauses, a dead one stays silent".into()), 1..=3600;
        /// Seconds after which a reply is aborted if the client takes no byte of it.
        write_timeout_s: u64 = |_| (60, "a busy build may pause, a dead client stays silent".into()), 1..=3600;
        /// Threads of each core that read files for responses, when the kernel does not have them in memory.
        file_threads: usize = |_| (4, "an SSD answers several reads at once; a slow disk may need more".into()), 1..=256;
        /// Threads that render indexes, hash files and read packages.
        workers: usize = Shares::workers, 1..=256;
        /// Threads for work that no client waits for: jobs, signals, and the downloads from upstreams, which clients may follow.
        back_threads: usize = |_| (2, "downloads wait most of the time".into()), 1..=64;
        /// Let the kernel send large files where it can (sendfile). With `false` all files are copied through buffers.
        sendfile: bool = |_| (true, "half the CPU time of copying; `false` is for file systems that do not support it".into());
        /// Buffers of 64 KiB for files that the kernel cannot send. When all are in use, buffers of 4 KiB are used.
        file_buffers: u64 = Shares::file_buffers, 1..=1_000_000;
        /// Large files that are kept open, so that the next request for one needs no lookup.
        open_files: u64 = Shares::open_files, 1..=1_000_000;
        /// Cached answers of 24 KiB to 1 MiB that are also kept as files in memory, so that the kernel sends them without a copy.
        page_files: u64 = Shares::page_files, 0..=1_000_000;
    }

    /// The certificate that the server gets from an authority by itself, and renews (ACME, RFC 8555).
    "server.acme" as acme: Acme {
        /// URL of the authority's directory, such as `https://acme-v02.api.letsencrypt.org/directory` or that of your company. If it is
        /// set, the server speaks TLS, gets its certificate there, and accepts the authority's terms.
        directory: DirectoryUrl = |_| (DirectoryUrl::default(), "no certificate is asked for unless somebody wants it".into());
        /// Names of the server for the certificate, with commas between them. The authority connects to each: to port 443, or to port
        /// 80 with `server.http_listen`.
        names: ServerNames = |_| (ServerNames::default(), "only an administrator knows the server's names".into());
        /// Mail addresses of administrators for the authority, with commas between them.
        contact: Contacts = |_| (Contacts::default(), "most authorities need none".into());
        /// PEM file with certificates to trust in calls to the authority, in place of those of the machine.
        trust: PathBuf = |_| (PathBuf::new(), "a public authority has a certificate that machines trust".into());
        /// Id of the key that a company's authority gives to its customers (external account binding).
        eab_key_id: EabKeyId = |_| (EabKeyId::default(), "most authorities need none".into());
        /// That key: `file:PATH` or `env:NAME`, where it is as base64url, as authorities show it.
        eab_key: SecretReference = |_| (SecretReference::default(), "as for `server.acme.eab_key_id`".into());
    }

    /// The data folder.
    "store" as store: Store {
        /// The data folder. Only one process may use it. It must not be on a network file system.
        data: PathBuf = Shares::data;
        /// Threads that read the database.
        readers: usize = Shares::readers, 1..=256;
        /// Memory of each of these threads for pages of the database, in bytes.
        reader_cache_bytes: u64 = Shares::reader_cache_bytes, 65_536..=1_099_511_627_776;
        /// Threads that read and write packages and cached files.
        blob_threads: usize = |_| (4, "an SSD answers several reads at once; a slow disk may need more".into()), 1..=256;
        /// Disk space for facts about upstreams, in bytes: which files their folders have and lack. The least recently changed facts are
        /// evicted first.
        facts_bytes: u64 = |_| (2 << 30, "about 8 million folders".into()), 65_536..=1_125_899_906_842_624;
        /// Memory for such facts, in bytes. With them a request through a group needs no database.
        known_folders_bytes: u64 = Shares::known_folders_bytes, 0..=1_099_511_627_776;
        /// Disk space for the cached files of all remote repositories, in bytes. The least recently used files are evicted first.
        cached_bytes: u64 = Shares::cached_bytes, 16_777_216..=1_125_899_906_842_624;
        /// Free disk space, in bytes. Below it no packages, cached files or events are written.
        free_space_floor_bytes: u64 = |_| (256 << 20, "leaves room for changes of settings and tokens".into()), 0..=1_125_899_906_842_624;
        /// Object storage (S3, or a server that speaks its protocol) that keeps the bytes of published packages and of the journal:
        /// `s3://BUCKET/PREFIX`. The data folder then has copies of the packages that were used recently. Files of upstreams stay in the
        /// data folder.
        objects: ObjectsUrl = |_| (ObjectsUrl::default(), "a disk needs no other server".into());
        /// URL of the server that has the bucket.
        endpoint: EndpointUrl = |_| (EndpointUrl::default(), "`AWS_ENDPOINT_URL_S3`, else `AWS_ENDPOINT_URL`, else Amazon's server of the region".into());
        /// Region of the bucket.
        region: Region = |_| (Region::default(), "`AWS_REGION`, else `AWS_DEFAULT_REGION`, else `us-east-1`, which most other servers take".into());
        /// Credentials for the bucket: `env:NAME` or `file:PATH` with one line `ACCESS_KEY:SECRET_KEY`, which is read again for each call.
        /// Without it they are `AWS_ACCESS_KEY_ID` and `AWS_SECRET_ACCESS_KEY`, else those of the role that a cloud gives to the machine.
        credentials: SecretReference = |_| (SecretReference::default(), "programs of Amazon find them so".into());
        /// Disk space for copies of packages that object storage keeps, in bytes. The least recently used copies are evicted first.
        local_bytes: u64 = Shares::cached_bytes, 16_777_216..=1_125_899_906_842_624;
        /// How long the bytes of yanked and replaced packages are kept. URLs of earlier moments (`NAME@2026-11-01`) reach back as far.
        horizon: Duration = |_| (DAY * 400, "a year, and a month to look back at it".into());
        /// How long a deleted file or a removed repository can be restored. Its bytes are kept as long.
        undo: Duration = |_| (DAY * 7, "a mistake is noticed within a week".into());
        /// How long the garbage collector waits between finding unused bytes and deleting them.
        collect_after: Duration = |_| (DAY, "an operator who notices a mistake can still stop the server".into());
        /// The largest jump of the machine's clock that needs no decision. After a larger one, and at a start that far behind the last change, nothing is written until `daylight repair clock`. With `cluster.database` the clock is compared with that of the database instead, and no decision is needed.
        clock_jump: Duration = |_| (Duration::from_secs(5 * 60), "more than a clock is ever wrong by itself".into());
    }

    /// A database of PostgreSQL that orders all changes and keeps them, in place of the disk of one machine.
    "cluster" as cluster: Cluster {
        /// URL of the database: `postgres://HOST:PORT/NAME`, or with `USER@` before the host, which is `daylight` otherwise. Every change is
        /// committed there, and the data folder has a copy from which this machine answers every read. Without it the data folder
        /// has the only database.
        database: OptionalDatabase = |_| (OptionalDatabase::default(), "one machine needs no other".into());
        /// The password of that user: `file:PATH` or `env:NAME`. A file is read again for each connection.
        database_password: SecretReference = |_| (SecretReference::default(), "the server of the database may believe a network or a machine".into());
        /// Certificates with which the server of the database is believed: a PEM file with its authority or its own certificate, or `machine`
        /// for the authorities that the machine trusts. With it the connection is encrypted, without it not.
        database_trust: DatabaseTrust = |_| (DatabaseTrust::default(), "a database on the same machine needs no encryption".into());
        /// Name of this machine in the database, where each change has the name of the machine that made it. Each has a name of its own: a server
        /// does not start while another one with its name runs.
        node: NodeName = |_| (NodeName::of_machine(), "the name of the machine".into());
        /// URL by which the other machines reach this one, such as `http://10.0.0.11:8080`: they ask it about its requests and findings. With TLS
        /// its host must be in the certificate, and the other machines must trust that.
        address: PublicUrl = |_| (PublicUrl::default(), "the address of `server.listen`, and where that is of any network, the name of the machine with its port".into());
        /// When a change is acknowledged: `everywhere`, when each machine has it that does not mark its answers as stale, or `here`, when it is
        /// committed and this machine has it. The others follow within milliseconds, or within a second while they hear nothing of it.
        acknowledge: Acknowledge = |_| (Acknowledge::Everywhere, "the next request may go to another machine".into());
        /// How long a machine that hears nothing of the others goes on to believe tokens, in seconds: one of them may have been revoked. After that, packages of
        /// private repositories are 503. Without other machines there is no limit.
        stale_private_s: u64 = |_| (STALE_PRIVATE_S, "a token that was revoked works no longer than this on a machine that is cut off".into()), 1..=31_536_000;
        /// Seconds for which the server still answers everything after a signal to stop or to restart, while `/health/ready` is 503
        /// (`draining`) and load balancers stop sending it requests. A second signal ends them. Without another machine there is no wait.
        drain_s: u64 = |_| (DRAIN_S, "a load balancer that asks each second takes two, and Kubernetes a few".into()), 0..=300;
    }

    /// How upstreams are called, and the upstreams of the first remote repositories.
    "upstream" as upstream: Upstream {
        /// URL of the upstream of the repository `maven-central`. If another one than the default is set, every start puts it into force.
        maven_central: UpstreamUrl = |_| (UpstreamUrl::maven_central(), "a complete public mirror of Maven Central".into());
        /// URL of the upstream of the repository `rubygems`; `none`: a new data folder has none. If another one than the default is set, every start puts it into force.
        rubygems: OptionalUpstream = |_| (OptionalUpstream::rubygems(), "the public index of gems".into());
        /// Disk space of one repository for the record of when each version was first seen at its upstream, in bytes. When it is full,
        /// further versions stay hidden by a cooldown and are missing in views of earlier moments. The lines of an upstream's gem
        /// index have a budget of the same size for each day.
        first_seen_bytes: u64 = |_| (64 << 20, "about 1,000,000 versions, or 100,000 files that are seen one by one".into()), 65_536..=1_099_511_627_776;
        /// Memory for the indexes of gem upstreams, in bytes. Lines that do not fit are refused, and the last good index stays.
        indexes_bytes: u64 = |_| (1 << 30, "the largest public index takes about 80 MB".into()), 65_536..=1_099_511_627_776;
        /// Memory for the maps of Koji repositories, in bytes. A map that does not fit is refused, and the last one stays.
        koji_maps_bytes: u64 = |_| (1 << 30, "50,000 files take about 2 MB".into()), 65_536..=1_099_511_627_776;
        /// Memory for the path prefixes that upstreams publish, in bytes.
        prefixes_bytes: u64 = Shares::prefixes_bytes, 0..=1_099_511_627_776;
        /// Downloads from upstreams at once, at most an eighth of them for one repository. Further requests get the last good file, or 503.
        max_fetches: u64 = |_| (1024, "each takes a few pieces of 64 KiB".into()), 8..=1_000_000;
        /// Members of a group, or files of one upstream, that are requested at once for one answer.
        max_concurrent: usize = |_| (8, "a group asks its members in a few turns and leaves calls for other requests".into()), 1..=256;
        /// Requests to one upstream host at once, of all repositories together. More wait.
        max_calls: u64 = |_| (32, "hosts with many clients limit each of them".into()), 1..=1024;
        /// Prefix of the environment variables that the API may name as credentials. The configuration file may name any variable.
        credentials_prefix: Prefix = |_| (Prefix::default(), "the API cannot send other variables of the server to an upstream".into());
        /// Folder of the files that the API may name as credentials and certificates. The configuration file may name any file.
        credentials_folder: PathBuf = |_| ("/run/secrets".into(), "containers have their secrets there".into());
        /// Whether upstreams may have addresses in private networks or on this machine.
        private_networks: bool = |_| (true, "the upstreams of a company are often in its own network".into());
        /// Whether upstreams may have link-local addresses, such as 169.254.169.254, at which clouds hand out the credentials of a
        /// machine.
        link_local_networks: bool = |_| (false, "keeps the credentials of the machine from users of the API".into());
        /// Seconds to resolve the name of an upstream and to connect to it, TLS included.
        connect_timeout_s: u64 = |_| (10, "a lost packet is sent again three times in this time".into()), 1..=600;
        /// Seconds from a request to an upstream to the head of its response. If one takes longer and the host answers no other
        /// request meanwhile, its circuit opens for a while: a build waits once, and not for each file.
        answer_timeout_s: u64 = |_| (10, "an upstream may have to ask another one; a build should not wait much longer".into()), 1..=3600;
        /// How long a request waits, in all, for pauses that an upstream asks for (429, or 503 with `Retry-After`). If a pause is
        /// longer, the answer is 503 with `Retry-After` at once. `0s` waits for none.
        wait_for_retry: Duration = |_| (Duration::from_secs(10), "many clients do not repeat a request that is answered 503".into());
        /// Seconds without a byte after which the download from an upstream is aborted.
        idle_timeout_s: u64 = |_| (30, "a slow connection pauses, a dead one stays silent".into()), 1..=3600;
        /// Seconds of waiting in which at least 64 KiB of a response must arrive.
        slow_timeout_s: u64 = |_| (60, "about 1 KiB a second; a slower upstream is broken".into()), 1..=3600;
    }

    /// Logs and events.
    "telemetry" as telemetry: Telemetry {
        /// Format of the lines of the server log (standard error): `text` or `json`.
        log_format: LineFormat = |_| (LineFormat::Text, "people read it first".into());
        /// Least severe lines in the log: `error`, `warn`, `info` or `debug`.
        log_level: Level = |_| (Level::Info, "a few lines an hour".into());
        /// One line for each request: `off`, `text` or `json`.
        access_log: AccessLog = |_| (AccessLog::Off, "events have more details".into());
        /// File of the access log, of which four files of 64 MiB are kept; `-` is standard output.
        access_log_file: PathBuf = |_| ("-".into(), "the service manager collects standard output".into());
        /// Addresses of clients in events, logs and the journal: `full`, `truncated` (24 bits of IPv4, 48 bits of IPv6) or `off`. Limits
        /// always use the whole address.
        client_addresses: ClientAddresses = |_| (ClientAddresses::Full, "an address tells which machine caused a problem".into());
        /// Who gets the header `Server-Timing` with the time that operations of the server took: nobody (`off`), callers with a
        /// token of the scope `observe` or `admin` (`observe`), or everybody (`on`). Answers from the cache of complete answers never have it.
        server_timing: ServerTiming = |_| (ServerTiming::Off, "it shows strangers how the server works".into());
        /// Finished events that may wait to be stored. More are dropped and counted.
        events_buffered: u64 = Shares::events_buffered, 16..=10_000_000;
        /// Finished events that are stored for each second: a number, or `auto`, with which the bytes for them last for 14 days of this
        /// traffic. Fewer events than that are all stored. Of more a sample is, in which each event tells how many it stands for.
        /// Failed and slow requests, those with a member that failed, traced ones and jobs are stored beside it: 200 a second of each, of
        /// more a sample with weights. With `auto`, if less than a quarter of the bytes of a day is saved, they are 10 to 200 a second
        /// of each, as many as the bytes allow.
        stored_per_second: StoredPerSecond = |_| (StoredPerSecond::Auto, "events are kept for two weeks, whatever the traffic".into());
        /// Memory for recent events, in bytes, which `daylight explain --event` shows. Events of failed and slow requests stay
        /// longest. 0 keeps none.
        events_recent_bytes: u64 = Shares::events_recent_bytes, 0..=1_099_511_627_776;
        /// Disk for events that are kept for questions, in bytes. The oldest are thinned to a tenth, and then removed. 0 keeps none.
        keep_bytes: u64 = Shares::keep_bytes, 0..=1_099_511_627_776;
        /// Days after which a kept event is removed.
        keep_days: u64 = |_| (90, "a quarter can be compared with the one before".into()), 1..=3650;
        /// Memory for kept events, in bytes: an eighth for the indexes of their files, the rest for events that are not in a file yet.
        keep_memory_bytes: u64 = Shares::keep_memory_bytes, 1_048_576..=1_099_511_627_776;
        /// Memory for questions about events, in bytes. Where it is short, answers leave out the smallest groups.
        ask_memory_bytes: u64 = Shares::ask_memory_bytes, 1_048_576..=1_099_511_627_776;
        /// Whether each event is written to `events/events.jsonl` in the data folder, as a line of JSON: `off` or `on`.
        json_lines: JsonLines = |_| (JsonLines::Off, "it costs as much as all other recording, and recent events are in memory".into());
        /// Size at which the file of JSON lines is closed and the next one begun, in bytes.
        json_lines_file_bytes: u64 = |_| (64 << 20, "about 100,000 events".into()), 65_536..=1_099_511_627_776;
        /// Files of JSON lines that are kept. The oldest one is deleted first.
        json_lines_files: u64 = |_| (4, "256 MiB in all with files of 64 MiB".into()), 1..=10_000;
        /// URL of an OpenTelemetry receiver (OTLP/HTTP), to which `/v1/traces` and `/v1/metrics` are appended. It gets stored events as
        /// spans, and metrics. Without it nothing is sent.
        otlp_url: ReceiverUrl = |_| (ReceiverUrl::default(), "nothing leaves the server unless somebody wants it".into());
        /// Name of the environment variable with headers for the receiver, such as its key: `key=value,...`, as
        /// `OTEL_EXPORTER_OTLP_HEADERS` has them.
        otlp_headers_env: VariableName = |_| (VariableName::default(), "many receivers in the own network need none".into());
        /// Seconds between two reports of metrics to the receiver.
        otlp_interval_s: u64 = |_| (60, "the interval of the exporters of OpenTelemetry".into()), 1..=3600;
        /// Host and port of a statsd server (UDP), which gets counts and times of requests each second.
        statsd_addr: HostPort = |_| (HostPort::default(), "nothing leaves the server unless somebody wants it".into());
        /// Whether statsd gets class and outcome as tags in the form of DogStatsD, and not as parts of names.
        statsd_tags: bool = |_| (false, "other servers of statsd refuse tags".into());
    }
}
