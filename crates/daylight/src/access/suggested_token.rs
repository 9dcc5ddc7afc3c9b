//! The token that an administrator would make in place of one that does not suffice.

use repository::Scope;
use std::fmt;
use store::TokenRecord;

/// The flags of `daylight token create` for such a token. A client shows one token to all repositories, so it can do whatever the
/// former one can.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SuggestedToken {
    scopes: Vec<Scope>,
    repositories: Vec<String>,
}

impl SuggestedToken {
    /// A token with this scope; for this repository or (`None`) for all.
    pub(super) fn only(scope: Scope, repository: Option<&str>) -> Self {
        Self { scopes: vec![scope], repositories: repository.map(str::to_owned).into_iter().collect() }
    }

    /// A token with this scope for a private repository, which it must be able to read, too.
    pub(super) fn private(scope: Scope, repository: &str) -> Self {
        let scopes = if scope == Scope::Read { vec![scope] } else { vec![Scope::Read, scope] };
        Self { scopes, ..Self::only(scope, Some(repository)) }
    }

    /// The scopes and repositories of `token`, and this scope in this repository.
    pub(super) fn beside(token: &TokenRecord, scope: Scope, repository: &str) -> Box<Self> {
        let has = |one: &Scope| token.scopes.iter().any(|had| had == one.as_str());
        // A token that publishes usually reads, too.
        let needed = |one: &Scope| has(one) || *one == scope || *one == Scope::Read;
        let scopes =
            if has(&Scope::Admin) { vec![Scope::Admin] } else { Scope::ALL.iter().copied().filter(needed).collect() };
        let mut repositories = token.repositories.clone();
        if !repositories.is_empty() && !repositories.iter().any(|name| name == repository) {
            repositories.push(repository.to_owned());
        }
        Box::new(Self { scopes, repositories })
    }
}

impl fmt::Display for SuggestedToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scopes: Vec<&str> = self.scopes.iter().map(|scope| scope.as_str()).collect();
        write!(f, "--scope {}", scopes.join(","))?;
        self.repositories.iter().try_for_each(|name| write!(f, " --repository {name}"))
    }
}
