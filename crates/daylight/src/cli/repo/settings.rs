//! The settings of a repository as flags of `repo add` and `repo set`, and as the API takes them.

use crate::cli::duration;
use serde_json::{Map, Value, json};

/// What takes a setting away.
const NONE: &str = "none";

/// Settings that both verbs take.
#[derive(Debug, Default, clap::Args)]
pub(super) struct Settings {
    /// What the lines of its index tell: v2, or v1 without the moments of publication [default: v2]
    #[arg(long, value_name = "FORMAT", help_heading = "Gems")]
    info_format: Option<String>,
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
    /// PEM file on the server with certificates to trust besides the machine's, or `none`
    #[arg(long, value_name = "PATH", help_heading = "Remote repositories")]
    trust: Option<String>,
    /// PEM file on the server with the certificate to show, and its key, or `none`
    #[arg(long, value_name = "PATH", help_heading = "Remote repositories")]
    certificate: Option<String>,
    /// How long what may change is good before it is asked for again: 90s, 15m, 12h, 1d, or `none` for the default
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Remote repositories")]
    fresh: Option<Value>,
    /// How long what is proven missing counts as missing, or `none` for the default
    #[arg(long, value_name = "TIME", value_parser = seconds, help_heading = "Remote repositories")]
    missing: Option<Value>,
    /// How many bytes of it are kept, or `none` for as many as fit; those used least go first
    #[arg(long, value_name = "BYTES", value_parser = number, help_heading = "Remote repositories")]
    max_bytes: Option<Value>,
    /// Which versions it takes
    #[arg(long, value_parser = ["mixed", "releases", "snapshots"], help_heading = "Hosted repositories of Maven")]
    versions: Option<String>,
    /// Keep this many builds of each snapshot, or `none`
    #[arg(long, value_name = "COUNT", value_parser = number, help_heading = "Hosted repositories of Maven")]
    keep_builds: Option<Value>,
    /// Keep builds of snapshots younger than this many days, or `none`; what either flag keeps is kept, and the newest always
    #[arg(long, value_name = "DAYS", value_parser = number, help_heading = "Hosted repositories of Maven")]
    keep_days: Option<Value>,
}

impl Settings {
    /// Whether it has an upstream.
    pub(super) fn has_remote(&self) -> bool {
        !self.remote.is_empty()
    }

    /// As the API takes them: what was not given is not there.
    pub(super) fn body(self) -> Map<String, Value> {
        let text = |value: Option<String>| value.map(|text| if text == NONE { Value::Null } else { text.into() });
        let remote = [
            ("urls", (!self.remote.is_empty()).then(|| json!(self.remote))),
            ("credentials", text(self.credentials)),
            ("proxy", text(self.proxy)),
            ("proxy_credentials", text(self.proxy_credentials)),
            ("trust", text(self.trust)),
            ("certificate", text(self.certificate)),
            ("fresh_s", self.fresh),
            ("missing_s", self.missing),
            ("max_bytes", self.max_bytes),
        ];
        let retention = [("builds", self.keep_builds), ("days", self.keep_days)];
        given([
            ("info_format", self.info_format.map(Value::from)),
            ("remote", object(remote)),
            ("versions", self.versions.map(Value::from)),
            ("retention", object(retention)),
        ])
    }
}

fn given<const N: usize>(settings: [(&str, Option<Value>); N]) -> Map<String, Value> {
    settings.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

fn object<const N: usize>(settings: [(&str, Option<Value>); N]) -> Option<Value> {
    Some(given(settings)).filter(|settings| !settings.is_empty()).map(Value::Object)
}

fn seconds(text: &str) -> Result<Value, String> {
    match text.strip_suffix('s').map(str::parse::<u64>) {
        _ if text == NONE => Ok(Value::Null),
        Some(Ok(seconds)) => Ok(seconds.into()),
        _ => duration::parse(text).map(|time| time.as_secs().into()),
    }
}

fn number(text: &str) -> Result<Value, String> {
    if text == NONE {
        return Ok(Value::Null);
    }
    let number: Result<u64, _> = text.replace('_', "").parse();
    number.map(Value::from).map_err(|_| format!("`{text}` is not a whole number, and not `{NONE}`"))
}
