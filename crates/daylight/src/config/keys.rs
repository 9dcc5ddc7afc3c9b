//! The settings. Each key is declared once, with its documentation, type, default, reason for the default, and limits. Everything
//! else is derived from that.

use super::error::Error;
use super::key::KeySpec;
use super::references::References;
use super::repositories::DeclaredRepository;
use super::shares::Shares;
use super::sources::{DEFAULT_DATA, Sources};
use super::value::{AccessLog, Networks, OptionalUpstream, Prefix, PublicUrl, UpstreamUrl, Value};
use client::Secret;
use front::ClientFrom;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use telemetry::log::{Level, LineFormat};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

macro_rules! keys {
    ($($(#[doc = $about:literal])+ $section:ident: $type:ident {
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
            /// `[[repository]]`: what is to be there at every start.
            pub repositories: Vec<DeclaredRepository>,
        }

        /// Every key, in this order.
        pub(super) const KEYS: &[KeySpec] = &[$($(KeySpec {
            section: stringify!($section),
            name: stringify!($key),
            path: concat!(stringify!($section), ".", stringify!($key)),
            doc: concat!($($doc),+),
            expects: <$value as Value>::EXPECTS,
            quoted: <$value as Value>::QUOTED,
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
                })
            }
        }
    };
    (@limits) => { None };
    (@limits $low:literal $high:literal) => { Some(($low, $high)) };
}

keys! {
    /// Sockets, and the limits on what comes in.
    server: Server {
        /// Address and port to serve on. Port 0 takes a free one.
        listen: SocketAddr = |_| (([127, 0, 0, 1], 8080).into(), "only this machine, until you say otherwise".into());
        /// File with the TLS certificate and those that sign it (PEM). With it, only TLS is spoken. Read again when it changes.
        tls_certificate: PathBuf = |_| (PathBuf::new(), "a server that ends TLS may stand in front".into());
        /// File with the key of the certificate (PEM).
        tls_key: PathBuf = |_| (PathBuf::new(), "as `server.tls_certificate`".into());
        /// The URL at which clients reach the server, for the URLs that it shows. Not set: the URL that a trusted proxy tells, or
        /// the `Host` of each request.
        public_url: PublicUrl = |_| (PublicUrl::default(), "derived from each request".into());
        /// Threads that serve, each with a runtime of its own.
        cores: usize = Shares::cores, 1..=1024;
        /// Memory for complete answers.
        pages_bytes: u64 = Shares::pages_bytes, 0..=1_099_511_627_776;
        /// Memory for large indexes, each of which all its readers share.
        indexes_bytes: u64 = Shares::indexes_bytes, 0..=1_099_511_627_776;
        /// Memory for what the dependency API says of gems.
        dependencies_bytes: u64 = Shares::dependencies_bytes, 0..=1_099_511_627_776;
        /// Memory for indexes of gems as a policy shows them, or as of a moment.
        views_bytes: u64 = Shares::views_bytes, 0..=1_099_511_627_776;
        /// Client connections open at once; more are turned away, but for `/health/live`, `/health/ready` and `/metrics`.
        max_connections: u64 = Shares::max_connections, 1..=1_000_000;
        /// Connections open at once from one address, or one IPv6 network of 64 bits; more are turned away.
        max_connections_per_client: u64 = Shares::max_connections_per_client, 1..=1_000_000;
        /// Proxies that are believed about their clients: addresses and networks, with commas between them.
        trusted_proxies: Networks = |_| (Networks::default(), "anybody could claim to be anybody".into());
        /// How they say who their client is: `connection` (they do not), `proxy-protocol` (version 1 or 2, on every
        /// connection of theirs), `x-forwarded-for` or `forwarded`. Choose what your proxy sets itself.
        client_from: ClientFrom = |_| (ClientFrom::Connection, "what a proxy does not set, a client may".into());
        /// Uploads under way at once; more are answered 503.
        max_uploads: u64 = Shares::max_uploads, 1..=100_000;
        /// Downloads that are looked up at once; more are answered 503. Sending takes no place.
        max_downloads: u64 = Shares::max_downloads, 1..=1_000_000;
        /// Requests that wait for upstreams at once, half of them for one repository, a quarter of one client; more are answered 503.
        max_waiting: u64 = Shares::max_waiting, 4..=1_000_000;
        /// Indexes that are made at once, waiting or under way; more are answered 503.
        max_indexes: u64 = Shares::max_indexes, 1..=1_000_000;
        /// Small answers (roots, readiness) under way at once; more are answered 503.
        max_pages: u64 = Shares::max_pages, 1..=1_000_000;
        /// Requests to the API under way at once; more are answered 503.
        max_admin: u64 = Shares::max_admin, 1..=1_000_000;
        /// Requests for keys and about owners of gems (`gem signin`, `gem owner`) under way at once; more are answered 503.
        max_accounts: u64 = Shares::max_accounts, 1..=1_000_000;
        /// Forms of 16 KiB at most (`gem signin`, `gem owner`, `gem yank`) that arrive at once; more are answered 503.
        max_forms: u64 = Shares::max_forms, 1..=100_000;
        /// Of each of these numbers, the percentage that one client, or one token, may take at once. 100: all of it.
        client_share_percent: u64 = |_| (50, "a team may share an address, and leaves room for others".into()), 1..=100;
        /// The largest body a client may send.
        max_upload_bytes: u64 = |_| (512 << 20, "gems are rarely above 100 MiB".into()), 1024..=1_099_511_627_776;
        /// How long the head of a request may take to arrive, and a form after it, in seconds.
        head_timeout_s: u64 = |_| (10, "a head is one packet or two".into()), 1..=3600;
        /// How long a connection may stay open without a request, in seconds.
        idle_timeout_s: u64 = |_| (75, "longer than clients and most load balancers keep theirs".into()), 1..=86_400;
        /// How long an upload may stop arriving, in seconds.
        upload_idle_timeout_s: u64 = |_| (30, "a slow line pauses, a dead one stays silent".into()), 1..=3600;
        /// How long a client may take no byte of a reply, in seconds.
        write_timeout_s: u64 = |_| (60, "a build under load may pause, a dead client stays silent".into()), 1..=3600;
        /// Have the kernel send large files, where it can. Off: all pass through buffers.
        sendfile: bool = |_| (true, "half the work of reading and writing; off is for file systems that cannot".into());
        /// Buffers of 64 KiB for files on their way to clients that the kernel does not send; beyond, 4 KiB are used.
        file_buffers: u64 = Shares::file_buffers, 1..=1_000_000;
        /// Large files that are kept open, so that who asks for one again is sent it without looking for it.
        open_files: u64 = Shares::open_files, 1..=1_000_000;
        /// Complete answers of 24 KiB to 1 MiB that the kernel holds as well, so that it sends them without a copy.
        page_files: u64 = Shares::page_files, 0..=1_000_000;
    }

    /// Where everything is kept.
    store: Store {
        /// The data folder. One process at a time; not on a network file system.
        data: PathBuf = |_| (DEFAULT_DATA.into(), "beside where you start it".into());
        /// Threads that read the truth database.
        readers: usize = Shares::readers, 1..=256;
        /// Bytes of files of upstreams that are kept, of all remote repositories together; those used least go first.
        cached_bytes: u64 = Shares::cached_bytes, 16_777_216..=1_125_899_906_842_624;
        /// Free space of the file system, in bytes, below which packages, files of upstreams and events are not written any more.
        free_space_floor_bytes: u64 = |_| (256 << 20, "room for changes of settings and tokens".into()), 0..=1_125_899_906_842_624;
        /// For how long the bytes of what was yanked or replaced are kept, and views as of a moment have them.
        horizon: Duration = |_| (DAY * 400, "a year, and some time to look back at it".into());
        /// For how long the deletion of files and repositories can be undone. Their bytes are kept as long.
        undo: Duration = |_| (DAY * 7, "a mistake is noticed within a week".into());
        /// How long the collector waits between its first look at bytes that nothing needs and their deletion.
        collect_after: Duration = |_| (DAY, "an operator who sees a mistake can still stop the server".into());
    }

    /// Upstreams: how they are called, and where the remote repositories that a new data folder gets have their files from.
    /// A URL that is set here, and not left at its default, holds at every start.
    upstream: Upstream {
        /// URL of what `maven-central` stands for.
        maven_central: UpstreamUrl = |_| (UpstreamUrl::maven_central(), "a public mirror of it that holds all of it".into());
        /// URL of the gem index that `rubygems` stands for. Without it `rubygems` has no upstream.
        rubygems: OptionalUpstream = |_| (OptionalUpstream::default(), "whose gems are trusted is a decision of yours".into());
        /// Bytes of the disk that one repository may take to remember what was first seen of its upstream, and when; versions
        /// that are seen after that count as young, and are not told as of a moment. An upstream's index of gems has a budget of its own:
        /// as many bytes of lines a day.
        first_seen_bytes: u64 = |_| (64 << 20, "some 1,000,000 versions, or 100,000 files that are each seen alone".into()), 65_536..=1_099_511_627_776;
        /// Calls to one host at a time, of all repositories together; more wait.
        max_calls: u64 = |_| (32, "a host that serves many takes no more from one".into()), 1..=1024;
        /// What names of variables begin with that the API may name as credentials. The configuration file may name any.
        credentials_prefix: Prefix = |_| (Prefix::default(), "other variables of this process are not for upstreams".into());
        /// Folder with the files that the API may name as credentials and certificates. The configuration file may name any.
        credentials_folder: PathBuf = |_| ("/run/secrets".into(), "where containers are given theirs".into());
        /// Whether upstreams may be in private networks, or on this machine.
        private_networks: bool = |_| (true, "most repositories of a company are in its own network".into());
        /// Whether upstreams may have link-local addresses, or those at which clouds tell machines their credentials.
        link_local_networks: bool = |_| (false, "credentials of the machine are no package".into());
        /// How long finding a host and connecting to it may take, TLS included, in seconds.
        connect_timeout_s: u64 = |_| (10, "a packet that was lost is sent again three times meanwhile".into()), 1..=600;
        /// How long an upstream may take from a request to the head of its answer, in seconds. One that takes longer, and answers
        /// nobody else meanwhile, is left alone for a while: a build pays this once, and not for each file.
        answer_timeout_s: u64 = |_| (10, "an upstream that asks another takes its time, and builds do not wait for ever".into()), 1..=3600;
        /// How long the body of an answer may stop arriving, in seconds.
        idle_timeout_s: u64 = |_| (30, "a slow line pauses, a dead one stays silent".into()), 1..=3600;
        /// Of the body of an answer 64 KiB arrive within so much waiting, in seconds.
        slow_timeout_s: u64 = |_| (60, "about 1 KiB each second: slower is no line, but a fault".into()), 1..=3600;
    }

    /// What the server says about itself.
    telemetry: Telemetry {
        /// How lines of the process log (stderr) look: `text` or `json`.
        log_format: LineFormat = |_| (LineFormat::Text, "people read it first".into());
        /// What is said there: `error`, `warn`, `info`, `debug`; each with all before it.
        log_level: Level = |_| (Level::Info, "a few lines an hour".into());
        /// One line for each request: `off`, `text` or `json`.
        access_log: AccessLog = |_| (AccessLog::Off, "events say more".into());
        /// File for the access log, kept small as the files of events are; `-` is standard output.
        access_log_file: PathBuf = |_| ("-".into(), "whoever runs the server collects it".into());
        /// Finished events that may wait to be stored; more are dropped and counted.
        events_buffered: u64 = Shares::events_buffered, 16..=10_000_000;
        /// Memory for events that can be asked for by their id; those that failed or were slow stay longer. 0: none are kept.
        events_recent_bytes: u64 = Shares::events_recent_bytes, 0..=1_099_511_627_776;
        /// Size at which a file of events is closed and the next begun, in bytes.
        events_max_bytes: u64 = |_| (64 << 20, "some 100,000 events".into()), 65_536..=1_099_511_627_776;
        /// Files of events that are kept; the oldest goes first.
        events_files: u64 = |_| (4, "256 MiB in all with files of 64 MiB".into()), 1..=10_000;
    }
}
