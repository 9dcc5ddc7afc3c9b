//! The settings of a repository as flags of `repo add` and `repo set`, and as the body of an API call.

use crate::duration;
use serde_json::{Map, Value, json};

/// The value that removes a setting.
const NONE: &str = "none";

/// Settings that both verbs take.
#[derive(Debug, Default, clap::Args)]
pub(super) struct SettingFlags {
    /// What the lines of its index tell: v2, or v1 without the moments of publication [default: v2]
    #[arg(long, value_name = "FORMAT", help_heading = "Gems")]
    info_format: Option<String>,
    /// Name of a gem that belongs to this repository in every group, whatever other members have. It is added to the names that are claimed already
    #[arg(long, value_name = "GEM", help_heading = "Gems")]
    claim: Vec<String>,
    /// Name of a member; repeated: all of them, in the order in which they are asked
    #[arg(long, value_name = "NAME", help_heading = "Groups")]
    member: Vec<String>,
    /// URL of the upstream that it stands for; repeated: mirrors of it, asked in this order
    #[arg(long, value_name = "URL", help_heading = "Remote repositories")]
    remote: Vec<String>,
    /// Where the upstream's credentials are: `env:NAME` or `file:PATH`, on the server; `none` takes them away
    #[arg(long, value_name = "REFERENCE", help_heading = "Remote repositories")]
    credentials: Option<String>,
    /// URL of the HTTP proxy on the way to it, or `none`
    #[arg(long, value_name = "URL", help_heading = "Remote repositories")]
    proxy: Option<String>,
    /// Where the proxy's credentials are, or `none`
    #[arg(long, value_name = "REFERENCE", help_heading = "Remote repositories")]
    proxy_credentials: Option<String>,
    /// Host that is reached without the proxy: a name, with all names below it, or an address; repeated: more, or `none`
    #[arg(long, value_name = "HOST", help_heading = "Remote repositories")]
    no_proxy: Vec<String>,
    /// PEM file on the server with certificates to trust besides the machine's, or `none`
    #[arg(long, value_name = "PATH", help_heading = "Remote repositories")]
    trust: Option<String>,
    /// PEM file on the server with the certificate to show, and its key, or `none`
    #[arg(long, value_name = "PATH", help_heading = "Remote repositories")]
    certificate: Option<String>,
    /// What becomes of a file that differs from its upstream's checksums: it is refused, taken, or they are not looked at
    #[arg(long, value_parser = ["strict", "warn", "ignore"], help_heading = "Remote repositories")]
    checksums: Option<String>,
    /// How long what may change is good before it is asked for again: 90s, 15m, 12h, 1d, or `none` for the default
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Remote repositories")]
    fresh: Option<Value>,
    /// How long what is proven missing counts as missing, or `none` for the default
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Remote repositories")]
    missing: Option<Value>,
    /// How many bytes of it are kept, or `none` for as many as fit; those used least go first
    #[arg(long, value_name = "BYTES", value_parser = number, help_heading = "Remote repositories")]
    max_bytes: Option<Value>,
    /// Whether groups ask it last for what the upstream's `.meta/prefixes.txt` does not have (Maven)
    #[arg(long, value_name = "true|false", help_heading = "Remote repositories")]
    prefixes: Option<bool>,
    /// Where the secret of its hooks is (`POST /hooks/NAME`): `env:NAME` or `file:PATH`, on the server; `none` takes it away
    #[arg(long, value_name = "REFERENCE", help_heading = "Remote repositories and groups")]
    hook_secret: Option<String>,
    /// Hide versions until they are this old: 7d, 12h, or `none`
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Policy")]
    cooldown: Option<Value>,
    /// Pattern of what is never seen, such as `org.example:lamp:1.*` or `rack:3.0.0`; repeated: all of them, or `none`
    #[arg(long, value_name = "PATTERN", help_heading = "Policy")]
    deny: Vec<String>,
    /// Pattern of what alone may be seen; repeated: all of them, or `none` for everything
    #[arg(long, value_name = "PATTERN", help_heading = "Policy")]
    allow: Vec<String>,
    /// Beginning of names that no upstream is asked for, such as `com.example`; repeated: all of them, or `none`
    #[arg(long, value_name = "PREFIX", help_heading = "Policy")]
    private_prefix: Vec<String>,
    /// Pattern of packages that upstreams are asked for though a hosted repository has some of the name; repeated: all, or `none`
    #[arg(long, value_name = "PATTERN", help_heading = "Policy")]
    shared: Vec<String>,
    /// Which versions it takes
    #[arg(long, value_parser = ["mixed", "releases", "snapshots"], help_heading = "Hosted repositories of Maven")]
    versions: Option<String>,
    /// Which paths it takes: those of Maven's layout, or any, as Ivy's patterns need
    #[arg(long, value_parser = ["maven", "any"], help_heading = "Hosted repositories of Maven")]
    layout: Option<String>,
    /// Whether a file may be published again with other bytes
    #[arg(long, value_name = "true|false", help_heading = "Hosted repositories of raw files")]
    replaceable: Option<bool>,
    /// Cleanup keeps the N versions of each package that were published last, or `none`
    #[arg(long, value_name = "N", value_parser = number, help_heading = "Cleanup")]
    keep_versions: Option<Value>,
    /// Cleanup keeps what was used within this time: 90d, 1y, or `none`; what either rule keeps is kept
    #[arg(long, value_name = "TIME", value_parser = time, help_heading = "Cleanup")]
    keep_unused: Option<Value>,
    /// Keep this many builds of each snapshot, or `none`
    #[arg(long, value_name = "COUNT", value_parser = number, help_heading = "Hosted repositories of Maven")]
    keep_builds: Option<Value>,
    /// Keep builds of snapshots younger than this many days, or `none`; what either flag keeps is kept, and the newest always
    #[arg(long, value_name = "DAYS", value_parser = number, help_heading = "Hosted repositories of Maven")]
    keep_days: Option<Value>,
    /// Keep what was published of a snapshot before its release for this many days after that, or `none` for ever
    #[arg(long, value_name = "DAYS", value_parser = number, help_heading = "Hosted repositories of Maven")]
    keep_released: Option<Value>,
}

impl SettingFlags {
    /// The kind of repository that the settings belong to, by default.
    pub(super) fn kind(&self) -> &'static str {
        match () {
            () if !self.remote.is_empty() => "remote",
            () if !self.member.is_empty() => "group",
            () => "hosted",
        }
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
        ];
        let policy = [
            ("cooldown_s", self.cooldown),
            ("deny", list(self.deny)),
            ("allow", list(self.allow)),
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
            ("retention", object(retention)),
            ("hook_secret", text(self.hook_secret)),
            ("keep_versions", self.keep_versions),
            ("keep_unused", self.keep_unused),
            ("policy", object(policy)),
            ("claim", (!self.claim.is_empty()).then(|| json!(self.claim))),
        ])
    }
}

fn given<const N: usize>(settings: [(&str, Option<Value>); N]) -> Map<String, Value> {
    settings.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn object<const N: usize>(settings: [(&str, Option<Value>); N]) -> Option<Value> {
    Some(given(settings)).filter(|settings| !settings.is_empty()).map(Value::Object)
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
    number.map(Value::from).map_err(|_| format!("`{text}` is not a whole number, and not `{NONE}`"))
}
