//! The refusal of a change by a repository that takes none, with the repository that takes it.

use crate::audience::Words;
use format::percent::segment;
use repository::Format;

/// A change of a repository that takes none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is {what}, which takes no changes{}", .place.as_ref().map(|place| format!(": publish to the hosted repository `{}`", place.name)).unwrap_or_default())]
pub struct Elsewhere {
    /// Its name.
    pub(crate) name: String,
    /// Its kind, in words.
    pub(crate) what: &'static str,
    /// Its format.
    pub(crate) format: Format,
    /// A hosted repository that takes the change, where the caller may know one.
    pub(crate) place: Option<Place>,
}

/// Where a change is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The repository's name.
    pub(crate) name: String,
    /// Its URL, without a slash at the end.
    pub(crate) url: String,
    /// The path below it that was asked for.
    pub(crate) path: String,
}

impl Elsewhere {
    /// How the client publishes there.
    pub(crate) fn hint(&self, words: Words) -> Option<String> {
        let Some(Place { url, path, .. }) = &self.place else {
            return Some("`daylight repo list` shows the hosted repositories, which take changes".into());
        };
        Some(match (self.format, words) {
            (Format::Gem, _) => format!("use this URL: `gem push --host {url}`, `gem yank --host {url}`"),
            (Format::Maven, Words::Maven) => {
                format!(
                    "make this the `<url>` in `<distributionManagement>`: {url}/ (once: -DaltDeploymentRepository=ID::default::{url}/)"
                )
            }
            (Format::Maven | Format::Raw, _) => {
                format!("send the request to {url}/{}", path.split('/').map(segment).collect::<Vec<_>>().join("/"))
            }
        })
    }

    /// What it is, for the reason phrase.
    pub(crate) fn phrase(&self) -> &'static str {
        match self.what {
            "a remote repository" => "a remote repository takes no uploads; publish to a hosted repository",
            _ => "a group takes no uploads; publish to one of its hosted members",
        }
    }
}
