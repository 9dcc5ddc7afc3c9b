//! The remedy for each error.

use crate::error::Error;
use crate::error::purged::Purged;
use crate::format::Format;

impl Error {
    /// The remedy, if there is one.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::NoSuchRepository(_) => Some("`daylight repo list` shows which there are".into()),
            Error::Invalid(error) => error.hint().map(Into::into),
            Error::Setting(error) => Some(error.hint().into()),
            Error::BadName(error) => Some(error.hint().into()),
            Error::Store(error) | Error::Unsaved(error) => error.hint(),
            Error::OtherCase { there, .. } => Some(format!("publish it as `{there}`, or under another name")),
            Error::Shadows(shadows) => Some(shadows.hint()),
            Error::NothingHeldBack(name) => Some(format!("`daylight repo show {name}` says how its index stands")),
            Error::NoSuchOwner => {
                Some("an owner is called as their token's owner is: `daylight token list` shows them".into())
            }
            Error::Purged(Purged::Taken { .. }) | Error::PathTaken(_) | Error::PathTakenByRemoved(_) => Some("publish another version".into()),
            Error::PathInOtherCase { there, .. } => {
                Some(format!("spell it as `{there}` is, or publish another version"))
            }
            Error::NotInLayout(_) => {
                let text = "a file of `G:A:V` is at `G/A/V/A-V.EXTENSION` or `G/A/V/A-V-CLASSIFIER.EXTENSION`; `daylight repo set NAME --layout any` takes other paths";
                Some(text.into())
            }
            Error::ChecksumDiffers { .. } => {
                Some("it was damaged on its way, or the file was: upload both again".into())
            }
            Error::ChecksumUnreadable { .. } => Some(
                "upload the digest alone, or the line that `sha1sum` and its like write; or none: it is made here"
                    .into(),
            ),
            Error::VersionRefused { .. } => {
                Some("publish it to a repository that takes it; `daylight repo list` shows which there are".into())
            }
            Error::WouldLoseCached { .. } => Some(
                "`keep_cached` true keeps those, false drops everything (`daylight repo set`: `--keep-cached`, `--yes`)".into(),
            ),
            Error::NoSuchFormat(_) => {
                let names: Vec<_> = Format::ALL.iter().map(|format| format.as_str()).collect();
                Some(format!("there are: {}", names.join(", ")))
            }
            Error::NoSuchProtocol(_) => {
                let names: Vec<_> = crate::gem::protocol::Protocol::ALL.iter().map(|protocol| protocol.as_str()).collect();
                Some(format!("there are: {}", names.join(", ")))
            }
            Error::TooManyWait(_) => Some("an upstream is slow; try again in a moment".into()),
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
                Some("ask who runs this server to raise it; from then on it is written down again".into())
            }
            Error::Future(_) => {
                Some("a day can be named once it is over, in UTC; until then name a moment of it".into())
            }
            Error::Hidden(hidden) => Some(hidden.hint()),
            // Anonymous clients read this reply. The remedy is for the operator and stands in the event.
            Error::Upstream(failure) => Some(match failure.public_hint() {
                Some(hint) => hint.to_owned(),
                None => "this answer's Daylight-Event leads whoever runs the server to the cause".into(),
            }),
            _ => None,
        }
    }
}
