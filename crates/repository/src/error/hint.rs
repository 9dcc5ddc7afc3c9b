//! The remedy for each error.

use crate::error::Error;
use crate::error::purged::Purged;
use crate::format::Format;

impl Error {
    /// The remedy, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::NoSuchRepository(_) => Some("`daylight repo list` shows all repositories".into()),
            Error::Invalid(error) => error.hint().map(Into::into),
            Error::Setting(error) => Some(error.hint().into()),
            Error::Query(error) => Some(error.hint()),
            Error::BadName(error) => Some(error.hint().into()),
            Error::Store(error) | Error::Unsaved(error) => error.hint(),
            Error::OtherCase { there, .. } => Some(format!("publish it as `{there}`, or under another name")),
            Error::Shadows(shadows) => Some(shadows.hint()),
            Error::NothingHeldBack(name) => Some(format!("`daylight repo show {name}` shows the state of its index")),
            Error::NoSuchOwner => {
                Some("name the owner of a token; `daylight token list` shows the owners".into())
            }
            Error::Purged(Purged::Taken { .. }) | Error::PathTaken(_) | Error::PathTakenByRemoved(_) => Some("publish another version".into()),
            Error::PathInOtherCase { there, .. } => {
                Some(format!("use the spelling of `{there}`, or publish another version"))
            }
            Error::NotInLayout(_) => {
                let text = "a file of `G:A:V` is at `G/A/V/A-V.EXTENSION` or `G/A/V/A-V-CLASSIFIER.EXTENSION`; `daylight repo set NAME --layout any` takes other paths";
                Some(text.into())
            }
            Error::RefusedUpload(refused) => Some(refused.hint()),
            Error::VersionRefused { .. } => {
                Some("publish it to a repository for such versions; `daylight repo list` shows all repositories".into())
            }
            Error::Unconfirmed(unconfirmed) => Some(unconfirmed.hint()),
            Error::NoSuchFormat(_) => {
                let names: Vec<_> = Format::ALL.iter().map(|format| format.as_str()).collect();
                Some(format!("there are: {}", names.join(", ")))
            }
            Error::NoSuchProtocol(_) => {
                let names: Vec<_> = crate::gem::protocol::Protocol::ALL.iter().map(|protocol| protocol.as_str()).collect();
                Some(format!("there are: {}", names.join(", ")))
            }
            Error::Guarded { share, .. } => {
                let publish = "publish the version in the hosted member that `daylight explain` names";
                let shared = share.iter().map(|command| {
                    format!(". Only where upstreams have the same package, as of a patched library, an administrator has them asked, too: `{command}`")
                });
                Some(shared.fold(publish.to_owned(), |hint, shared| hint + &shared))
            }
            Error::TooManyWait(_) => Some("an upstream is slow: try again in a moment; the setting `server.max_waiting` is the limit".into()),
            Error::Purged(Purged::Nothing { .. }) => Some(
                "name a path below the repository, a gem `NAME[:VERSION]` or an artifact `GROUP:ARTIFACT[:VERSION]`; `daylight explain` says \
                 what became of a path"
                    .into(),
            ),
            Error::Unrestorable(error) => error.hint(),
            Error::NameTaken(_) => Some(
                "take another name; a removed repository comes back under one with `repo restore NAME --as NEW`".into(),
            ),
            Error::Contended(_) => Some("try again".into()),
            Error::FirstSeenFull(_) => {
                Some("an administrator can raise the setting; from then on versions are recorded again".into())
            }
            Error::Future(_) => {
                Some("a day can be named after its end in UTC; before that, name a moment".into())
            }
            Error::Hidden(hidden) => Some(hidden.hint()),
            Error::MadeHere(_) => Some("upload the POM and the artifacts only; the server makes metadata and checksums".into()),
            Error::ProtocolOff(_) => Some("an administrator switches it on with `daylight repo set NAME --protocol PROTOCOL=on`".into()),
            // Anonymous clients read this reply. The remedy for the operator stands in the event, which the reply names.
            Error::Upstream(failure) => failure.public_hint().map(str::to_owned),
            _ => None,
        }
    }
}
