//! The remedy for an error, in the words of the client that reads it.

use super::Error;
use crate::config::{FORM_BYTES, SMALL_BODY_BYTES};
use crate::face::Words;
use crate::formats;
use crate::upload::elsewhere::{Elsewhere, PublishTarget};
use repository::Format;

impl Error {
    /// The remedy, where there is one that clients may know.
    pub fn hint(&self, words: Words) -> Option<String> {
        if self.withheld().is_some() {
            return None;
        }
        Some(match self {
            Error::Access(error) => return error.hint(words),
            Error::Repository(error) => return error.hint(),
            Error::Store(error) => return error.hint(),
            Error::Question(mistake) => return mistake.hint.clone(),
            Error::NotAnswered(error) => return error.hint().map(str::to_owned),
            Error::PlainHttp { url, sent_key, .. } => over_tls(url.as_deref(), *sent_key),
            Error::Elsewhere(elsewhere) => instead(elsewhere, words),
            Error::Upload(front::UploadError::TooLarge { limit }) if ![FORM_BYTES, SMALL_BODY_BYTES].contains(limit) => {
                "the setting `server.max_upload_bytes` is the limit; the person who runs the server can raise it".into()
            }
            Error::Upload(front::UploadError::TooSlow) => {
                "upload it again; the setting `server.upload_idle_timeout_s` is how long an upload may stop arriving"
                    .into()
            }
            Error::Upload(front::UploadError::Short) => "upload it again".into(),
            Error::Write(refusal) => refusal.hint().into(),
            Error::Busy { setting: Some(setting), .. } => {
                format!("try again in a moment; the setting `{setting}` is the limit")
            }
            Error::Busy { setting: None, .. } => "try again in a moment".into(),
            Error::BusyForOne { .. } => {
                "try again in a moment; the setting `server.client_share_percent` is the share of one client or token"
                    .into()
            }
            Error::RepositoryRemoved { name, removal } => {
                format!("until {} `daylight repo restore {name}` brings it back", removal.restorable_until)
            }
            Error::HookUnproven(name) => format!(
                "`daylight repo set {name} --hook-secret env:NAME` gives the hooks a secret, with which senders elsewhere sign"
            ),
            Error::HookSecretUnread(name) => {
                format!(
                    "`daylight repo show {name}` names where the secret is; the server must be able to read it as its user"
                )
            }
            Error::HookForged(_) => "sign it with the repository's `hook_secret`; docs/hooks.md explains how".into(),
            Error::NoPackage { .. } => "/search looks for a name in all repositories that you may read".into(),
            Error::NothingKnown { trouble: Some(_), .. } => {
                "`daylight upstreams` shows the state of upstreams; until this one answers, no build gets the package".into()
            }
            Error::NothingKnown { .. } => "the first client that requests it makes it known".into(),
            Error::NoSuchRoute(path) => return below_repositories(path).map(str::to_owned),
            Error::NoSuchApp(_) => {
                "the page at `/` lists the applications; that of a command line without a file is called `app`".into()
            }
            Error::NoSuchFinding { nearest: Some(nearest), .. }
            | Error::NoSuchReceiver { nearest: Some(nearest), .. }
            | Error::NotMuted { nearest: Some(nearest), .. } => {
                format!("did you mean `{nearest}`?")
            }
            Error::NoSuchFinding { .. } => "`daylight findings --state pending,open,closed` lists the ids".into(),
            Error::NoSuchReceiver { .. } => "`daylight alerts` lists the receivers".into(),
            Error::NotMuted { .. } => "`daylight findings --state muted` lists the muted findings".into(),
            Error::Unconfirmed => {
                "try again in a moment, or through another node; `daylight cluster status` shows why this one does not follow the others"
                    .into()
            }
            Error::EventOfSilent { .. } => "the event may be there; `daylight cluster status` shows the nodes".into(),
            Error::NoSuchEvent(_) | Error::EventOfNoNode(_) => {
                "the request may be under way, or it was one of many answers from memory, of which a sample is kept; the settings \
                 `telemetry.keep_bytes` and `telemetry.keep_days` limit how long events are kept"
                    .into()
            }
            _ => return None,
        })
    }
}

/// How a client makes its change over TLS.
fn over_tls(url: Option<&str>, sent_key: bool) -> String {
    let url = url.map_or_else(|| "the URL that begins with `https`".to_owned(), |url| format!("`{url}`"));
    let key = match sent_key {
        true => {
            "; others could read the token of this request on the way: remove it and make a new one (`daylight token`)"
        }
        false => "",
    };
    format!("use {url}{key}")
}

/// How the client makes its change in the repository that takes it.
fn instead(elsewhere: &Elsewhere, words: Words) -> String {
    match &elsewhere.target {
        Some(PublishTarget { url, path, .. }) => (formats::of(elsewhere.format).elsewhere)(url, path, words),
        None => "`daylight repo list` shows the hosted repositories, which take changes".into(),
    }
}

/// The remedy for a path that is none of the server's own: often a client was given the server's URL instead of a repository's. It is the
/// same whether or not there is such a repository.
fn below_repositories(path: &str) -> Option<&'static str> {
    let segments: Vec<&str> = path.strip_prefix('/')?.split('/').filter(|segment| !segment.is_empty()).collect();
    let mut formats = Format::ALL.iter().map(|format| formats::of(*format));
    formats.find_map(|face| (face.without_repository)(&segments)).or(match segments[..] {
        ["repository" | "hooks" | "api" | "health" | "metrics", ..] => None,
        _ => Some("the URL of a repository is `/repository/NAME/` below that of the server"),
    })
}

#[cfg(test)]
mod tests {
    use super::below_repositories;

    #[test]
    fn a_path_without_its_repository_gets_the_form_of_the_url() {
        let has = |path: &str, words: &str| below_repositories(path).is_some_and(|hint| hint.contains(words));
        assert!(has("/api/v1/gems", "gem push --host") && has("/api/v1/api_key", "gem push --host"));
        assert!(
            has("/maven/com/acme/lamp/1/lamp-1.pom", "/repository/NAME/") && has("/specs.4.8.gz", "/repository/NAME/")
        );
        for own in ["/api/v1/repository", "/hooks/a", "gems/api/v1/owners", "/repository"] {
            assert_eq!(below_repositories(own), None, "{own}");
        }
    }
}
