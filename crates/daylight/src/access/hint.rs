//! The remedy for a refused request, in the words of the client that sent it.

use super::error::Error;
use super::wanted::Wanted;
use crate::audience::Words;
use repository::Scope;

impl Error {
    /// The remedy, if there is one.
    pub fn hint(&self, words: Words) -> Option<String> {
        Some(match self {
            Error::CredentialsMissing { scope, repository } => {
                format!("{}; {}", make(&Wanted::only(*scope, repository.as_deref())), send(*scope, words))
            }
            Error::PrivateOrMissing { name, scope } => {
                format!("{}; {}", make(&Wanted::private(*scope, name)), send(*scope, words))
            }
            Error::AccountMissing => send(Scope::Write, words).into(),
            Error::CredentialsUnknown => {
                format!("an administrator sees all tokens with `daylight token list`; {}", replace(words))
            }
            Error::TokenEmpty => {
                let variable = if words == Words::Gem { "GEM_HOST_API_KEY" } else { "DAYLIGHT_TOKEN" };
                format!("is {variable} set where the client runs? {}", replace(words))
            }
            Error::VariableUnset(name) => format!("`export {name}=TOKEN` before `mvn`"),
            Error::ScopeMissing { signed_in: Some(maker), scope, .. } => {
                format!("sign in with token `{maker}` to add the scope `{scope}` to the key")
            }
            Error::ScopeMissing { scope: scope @ (Scope::Observe | Scope::Admin), .. } => format!(
                "use a token with the scope `{scope}`; an administrator makes one: `daylight token create NAME --scope {scope}`"
            ),
            // The repository may be a group, which a token for others does not learn.
            Error::RepositoryNotNamed { wanted, .. } if words == Words::Gem => {
                format!("{}; a group takes no changes: push to a hosted repository, and yank there", make(wanted))
            }
            Error::ScopeMissing { wanted, .. } | Error::RepositoryNotNamed { wanted, .. } => make(wanted),
            Error::OnlyForRepositories { scope, .. } => {
                format!("use a token with the scope `{scope}` that was made without `--repository`")
            }
            Error::OriginNotAllowed(_) => {
                "use a token that has the scope `admin`, or upload without that header".into()
            }
            Error::FormForged => "open the page again, and send the form from there".into(),
            Error::TokenChanged => "try again".into(),
            Error::TokenNameTaken(_) => "choose another name, or revoke that token first".into(),
            Error::NoSuchToken(_) => "`daylight token list` shows all tokens".into(),
            Error::Wider { .. } => "sign in with a token that has the scope, or ask for fewer scopes".into(),
            Error::NotItsMaker { .. } => "sign in with the token that the key was made with, or make a new key".into(),
            Error::Repository(error) => return error.hint(),
            Error::Store(error) => return error.hint(),
            _ => return None,
        })
    }
}

/// How an administrator makes a token.
fn make(wanted: &Wanted) -> String {
    format!("an administrator makes a token: `daylight token create NAME {wanted}`")
}

/// Where a client takes its token from.
fn send(scope: Scope, words: Words) -> &'static str {
    match (words, scope) {
        (_, Scope::Observe | Scope::Admin) | (Words::Http, _) => {
            "send it as `Authorization: Bearer TOKEN`, or as the password of any user (`curl --user x:TOKEN`); the commands of \
             `daylight` take it from DAYLIGHT_TOKEN"
        }
        (Words::Gem, Scope::Read) => {
            "Bundler takes it from `bundle config set --global URL x:TOKEN`, with the URL of the repository and its last `/`, but not for a \
             mirror of all sources (`mirror.all`): that and `gem` take it from the URL, `https://x:TOKEN@HOST/...`"
        }
        (Words::Gem, _) => "`gem` takes it from GEM_HOST_API_KEY",
        (Words::Maven, _) => {
            "Maven takes it from settings.xml: the `<password>` of a `<server>`, with any `<username>`, and the `<id>` of this `<server>` must \
             equal the `<id>` of the repository in the POM. Is the variable set that `<password>` names? Maven 3.10 sends a token only to URLs whose \
             scheme, host and port settings.xml has in a mirror or repository with this `<id>`, or in `<repositoryOrigins>` of the `<server>`. \
             Gradle takes it from `credentials` of the repository"
        }
    }
}

/// Where a client stores a token that no longer works.
fn replace(words: Words) -> &'static str {
    match words {
        Words::Gem => {
            "the client has the one that was sent from GEM_HOST_API_KEY, `~/.gem/credentials`, `bundle config` or the source's URL"
        }
        Words::Maven => {
            "the build has the one that was sent from the `<server>` in settings.xml, or from `credentials` in Gradle"
        }
        Words::Http => {
            "the one that was sent is in `Authorization`; the commands of `daylight` take it from DAYLIGHT_TOKEN"
        }
    }
}
