//! The settings of a repository as flags of `repo add` and `repo set`, and as the body of an API call.

use super::body::{given, object};
use super::koji_flags::KojiFlags;
use crate::cli::context::Context;
use crate::cli::failure::Failure;
use crate::config::duration;
use serde_json::{Map, Value, json};

/// The value that removes a setting.
const NONE: &str = "none";

/// Settings that both verbs take.
#[derive(Debug, Default, clap::Args)]
#[command(group = clap::ArgGroup::new("upstream").args(["remote", "koji", "koji_files"]).multiple(true))]
pub(super) struct SettingFlags {
    /// Format of /info: v2, or v1 without dates of publication [default: v2]
    #[arg(long, value_name = "FORMAT", help_heading = "Gems")]
    info_format: Option<String>,
    /// Name of a gem that belongs to this repository in every group, whatever other members have; is added to the names that it claims
    /// already; can be repeated
    #[arg(long, value_name = "GEM", help_heading = "Gems")]
    claim: Vec<String>,
    /// Name of a member; repeat the flag for all members, in the order in which they are asked
    #[arg(long, value_name = "NAME", help_heading = "Groups")]
    member: Vec<String>,
    /// URL of the upstream; repeat the flag for mirrors of it, in the order in which they are tried
    #[arg(long, value_name = "URL", conflicts_with_all = KojiFlags::ALL, help_heading = "Remote repositories")]
    remote: Vec<String>,
    #[command(flatten)]
    koji: KojiFlags,
    /// Where the server finds the credentials for the upstream: `env:NAME` or `file:PATH`; `none` removes them
    #[arg(long, value_name = "REFERENCE", help_heading = "Remote repositories")]
    credentials: Option<String>,
    /// URL of the HTTP proxy to reach the upstream through, or `none`
    #[arg(long, value_name = "URL", help_heading = "Remote repositories")]
    proxy: Option<String>,
    /// Where the server finds the credentials for the proxy: `env:NAME`, `file:PATH` or `none`
    #[arg(long, value_name = "REFERENCE", help_heading = "Remote repositories")]
    proxy_credentials: Option<String>,
    /// Host that is reached without the proxy: an address, or a name with all names below it; can be repeated; or `none`
    #[arg(long, value_name = "HOST", help_heading = "Remote repositories")]
    no_proxy: Vec<String>,
    /// PEM file on the server with certificates of the upstream to trust, besides those of its machine; or `none`
    #[arg(long, value_name = "PATH", help_heading = "Remote repositories")]
    trust: Option<String>,
    /// PEM file on the server with a client certificate for the upstream, and its key; or `none`
    #[arg(long, value_name = "PATH", help_heading = "Remote repositories")]
    certificate: Option<String>,
    /// What to do with a file that does not match the checksums of its upstream: refuse it (strict), accept it and warn, or ignore the
    /// checksums
    #[arg(long, value_parser = ["strict", "warn", "ignore"], help_heading = "Remote repositories")]
    checksums: Option<String>,
    /// How long a cached index or metadata file is used before the upstream is asked again (TTL): 90s, 15m, 12h, 1d, or `none` for the
    /// default
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Remote repositories")]
    fresh: Option<Value>,
    /// How long a 404 answer of the upstream is cached (TTL), or `none` for the default
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Remote repositories")]
    missing: Option<Value>,
    /// Most bytes of cached files, or `none` for no limit of its own; the least recently used files are evicted first
    #[arg(long, value_name = "BYTES", value_parser = number, help_heading = "Remote repositories")]
    max_bytes: Option<Value>,
    /// Whether groups ask this repository last for names that are not in the `.meta/prefixes.txt` of its upstream (Maven)
    #[arg(long, value_name = "true|false", help_heading = "Remote repositories")]
    prefixes: Option<bool>,
    /// What to do with a request that has a query (raw files): refuse it, or pass the query on and keep a file for each query
    #[arg(long, value_parser = ["refuse", "keep"], help_heading = "Remote repositories")]
    query: Option<String>,
    /// Where the server finds the secret that signs hooks for it (`POST /hooks/NAME`): `env:NAME` or `file:PATH`; `none` removes it
    #[arg(long, value_name = "REFERENCE", help_heading = "Remote repositories and groups")]
    hook_secret: Option<String>,
    /// Hide versions until they are this old: 7d, 12h, or `none`
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Policy")]
    cooldown: Option<Value>,
    /// Pattern of packages to hide, such as `org.example:lamp:1.*` or `rack:3.0.0`; repeat the flag for all patterns; or `none`
    #[arg(long, value_name = "PATTERN", help_heading = "Policy")]
    deny: Vec<String>,
    /// Pattern of packages to show, while all others are hidden; repeat the flag for all patterns; `none` shows everything
    #[arg(long, value_name = "PATTERN", help_heading = "Policy")]
    only: Vec<String>,
    /// The former name of --only
    #[arg(long, value_name = "PATTERN", hide = true)]
    allow: Vec<String>,
    /// Prefix of package names that upstreams are never asked for, such as `com.example`; repeat the flag for all prefixes; or `none`
    #[arg(long, value_name = "PREFIX", help_heading = "Policy")]
    private_prefix: Vec<String>,
    /// Pattern of packages that upstreams are asked for although a hosted repository has the name; repeat the flag for all patterns; or
    /// `none`
    #[arg(long, value_name = "PATTERN", help_heading = "Policy")]
    shared: Vec<String>,
    /// Of a group: hide versions of its hosted members, too. Without this flag a cooldown, or a rule that hides versions of theirs, is
    /// confirmed at a terminal or refused
    #[arg(long, help_heading = "Policy")]
    include_hosted: bool,
    /// Which versions can be published
    #[arg(long, value_parser = ["mixed", "releases", "snapshots"], help_heading = "Hosted repositories of Maven")]
    versions: Option<String>,
    /// Paths that can be published: those of Maven's layout, or any path, as Ivy's patterns need
    #[arg(long, value_parser = ["maven", "any"], help_heading = "Hosted repositories of Maven")]
    layout: Option<String>,
    /// Whether another file can be published at the path of an existing file
    #[arg(long, value_name = "true|false", help_heading = "Hosted repositories of raw files")]
    replaceable: Option<bool>,
    /// Whether folders are listed, for callers that may read the repository
    #[arg(long, value_name = "true|false", help_heading = "Maven and raw files")]
    listing: Option<bool>,
    /// Cleanup keeps the N versions of each package that were published last, or `none`
    #[arg(long, value_name = "N", value_parser = number, help_heading = "Cleanup")]
    keep_versions: Option<Value>,
    /// Cleanup keeps versions that were used within this time: 90d, 1y, or `none`. With --keep-versions too, either of the two is enough
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Cleanup")]
    keep_unused: Option<Value>,
    /// Keep this many builds of each snapshot, or `none`
    #[arg(long, value_name = "COUNT", value_parser = number, help_heading = "Hosted repositories of Maven")]
    keep_builds: Option<Value>,
    /// Keep builds of snapshots younger than this many days, or `none`. With --keep-builds too, either of the two is enough; the newest
    /// build is always kept
    #[arg(long, value_name = "DAYS", value_parser = number, help_heading = "Hosted repositories of Maven")]
    keep_days: Option<Value>,
    /// Keep the snapshots of a version for this many days after its release, or `none` to keep them without limit
    #[arg(long, value_name = "DAYS", value_parser = number, help_heading = "Hosted repositories of Maven")]
    keep_released: Option<Value>,
}

impl SettingFlags {
    /// The kind of repository that the settings belong to, by default.
    pub(super) fn kind(&self) -> &'static str {
        match () {
            () if !self.remote.is_empty() || self.koji.are_given() => "remote",
            () if !self.member.is_empty() => "group",
            () => "hosted",
        }
    }

    /// Refuses the flags of a new repository if they name only a part of a Koji hub.
    pub(super) fn check_new(&self) -> Result<(), Failure> {
        self.koji.check_new()
    }

    /// Tells of flags that have another name now.
    pub(super) fn warn(&self, context: &mut Context<'_>) -> std::io::Result<()> {
        match &self.allow[..] {
            [] => Ok(()),
            _ => writeln!(context.err, "warning: `--allow` is `--only` now; the former name will go"),
        }
    }

    /// Whether the flags claim this gem.
    pub(super) fn claims(&self, gem: &str) -> bool {
        self.claim.iter().any(|claimed| claimed == gem)
    }

    /// The body of an API call, with the settings that were given.
    pub(super) fn body(self) -> Map<String, Value> {
        let text = |value: Option<String>| value.map(|text| if text == NONE { Value::Null } else { text.into() });
        let texts = |values: Vec<String>| match values.as_slice() {
            [] => None,
            [one] if one == NONE => Some(Value::Null),
            _ => Some(json!(values)),
        };
        let remote = [
            ("urls", (!self.remote.is_empty()).then(|| json!(self.remote))),
            ("koji", self.koji.body()),
            ("credentials", text(self.credentials)),
            ("proxy", text(self.proxy)),
            ("proxy_credentials", text(self.proxy_credentials)),
            ("no_proxy", texts(self.no_proxy)),
            ("trust", text(self.trust)),
            ("certificate", text(self.certificate)),
            ("checksums", self.checksums.map(Value::from)),
            ("fresh_s", self.fresh),
            ("missing_s", self.missing),
            ("max_bytes", self.max_bytes),
            ("prefixes", self.prefixes.map(Value::from)),
            ("query", self.query.map(Value::from)),
        ];
        let policy = [
            ("cooldown_s", self.cooldown),
            ("deny", list(self.deny)),
            ("allow", list([self.only, self.allow].concat())),
            ("private_prefixes", list(self.private_prefix)),
            ("shared", list(self.shared)),
        ];
        let retention = [("builds", self.keep_builds), ("days", self.keep_days), ("released_days", self.keep_released)];
        given([
            ("info_format", self.info_format.map(Value::from)),
            ("members", (!self.member.is_empty()).then(|| json!(self.member))),
            ("remote", object(remote)),
            ("versions", self.versions.map(Value::from)),
            ("layout", self.layout.map(Value::from)),
            ("replaceable", self.replaceable.map(Value::from)),
            ("listing", self.listing.map(Value::from)),
            ("retention", object(retention)),
            ("hook_secret", text(self.hook_secret)),
            ("keep_versions", self.keep_versions),
            ("keep_unused", self.keep_unused),
            ("policy", object(policy)),
            ("include_hosted", self.include_hosted.then(|| true.into())),
            ("claim", (!self.claim.is_empty()).then(|| json!(self.claim))),
        ])
    }
}

/// A list; `none` alone removes it.
fn list(texts: Vec<String>) -> Option<Value> {
    match &texts[..] {
        [] => None,
        [none] if none == NONE => Some(Value::Null),
        _ => Some(json!(texts)),
    }
}

fn seconds(text: &str) -> Result<Value, String> {
    match text {
        NONE => Ok(Value::Null),
        _ => duration::parse(text).map(|time| time.as_secs().into()),
    }
}

/// A duration as it is written, which the server reads.
fn time(text: &str) -> Result<Value, String> {
    if text == NONE {
        return Ok(Value::Null);
    }
    duration::parse(text).map(|_| text.into())
}

fn number(text: &str) -> Result<Value, String> {
    if text == NONE {
        return Ok(Value::Null);
    }
    let number: Result<u64, _> = text.replace('_', "").parse();
    number.map(Value::from).map_err(|_| format!("`{text}` is neither a whole number nor `{NONE}`"))
}
