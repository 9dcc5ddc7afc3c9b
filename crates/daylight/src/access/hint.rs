//! The remedy for a refused request, in the words of the client that sent it.

use super::error::Error;
use super::suggested_token::SuggestedToken;
use crate::face::Words;
use crate::formats;
use repository::Scope;

impl Error {
    /// The remedy, if there is one.
    pub fn hint(&self, words: Words) -> Option<String> {
        let client = formats::speaking(words);
        Some(match self {
            Error::CredentialsMissing { scope, repository } => {
                format!("{}; {}", make(&SuggestedToken::only(*scope, repository.as_deref())), send(*scope, words))
            }
            Error::PrivateOrMissing { name, scope } => {
                format!("{}; {}", make(&SuggestedToken::private(*scope, name)), send(*scope, words))
            }
            Error::AccountMissing => send(Scope::Write, words).into(),
            Error::CredentialsUnknown => {
                format!("an administrator sees all tokens with `daylight token list`; {}", client.token_store)
            }
            Error::TokenEmpty => {
                let variable = client.token_variable;
                format!("is {variable} set where the client runs? {}", client.token_store)
            }
            Error::VariableUnset(name) => format!("`export {name}=TOKEN` before `mvn`"),
            Error::ScopeMissing { signed_in: Some(maker), scope, .. } => {
                format!("sign in with token `{maker}` to add the scope `{scope}` to the key")
            }
            Error::ScopeMissing { scope: scope @ (Scope::Observe | Scope::Admin), .. } => format!(
                "use a token with the scope `{scope}`; an administrator makes one: `daylight token create NAME --scope {scope}`"
            ),
            // The repository may be a group, which a token for others does not learn.
            Error::RepositoryNotNamed { suggested, .. } => format!("{}{}", make(suggested), client.about_groups),
            Error::ScopeMissing { suggested, .. } => make(suggested),
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
fn make(suggested: &SuggestedToken) -> String {
    format!("an administrator makes a token: `daylight token create NAME {suggested}`")
}

/// Where a client takes its token from. Of the API clients speak HTTP.
fn send(scope: Scope, words: Words) -> &'static str {
    let words = if matches!(scope, Scope::Observe | Scope::Admin) { None } else { words };
    (formats::speaking(words).token_source)(scope)
}
