//! Whether a caller may do what a request asks for.

use super::caller::Caller;
use super::credentials::{self, Credentials};
use super::error::Error;
use super::suggested_token::SuggestedToken;
use super::table::Token;
use super::tokens::Access;
use front::Request;
use http::{HeaderMap, Method};
use repository::{Repositories, Repository, Scope};
use std::sync::Arc;
use store::{RepositoryKind, Stamp};
use telemetry::Event;

/// Refuses a GET with side effects unless RubyGems sends it. A page can make a browser send a GET, with an image for instance, but
/// cannot make it send the headers of RubyGems.
pub(crate) fn refuse_browsers(headers: &HeaderMap) -> Result<(), Error> {
    if credentials::is_rubygems(headers) { Ok(()) } else { Err(Error::OnlyPosted) }
}

/// Refuses a request that a page of another site made a browser send.
pub(crate) fn refuse_cross_site(headers: &HeaderMap) -> Result<(), Error> {
    if credentials::is_cross_site(headers) { Err(Error::CrossSite) } else { Ok(()) }
}

/// Whether a page of another site made a browser send the request.
pub(crate) fn is_cross_site(headers: &HeaderMap) -> bool {
    credentials::is_cross_site(headers)
}

/// Refuses a form unless a browser says that a page of this server sent it. `server` is the URL by which browsers reach the server.
pub(crate) fn refuse_unless_from_here(headers: &HeaderMap, server: &str) -> Result<(), Error> {
    let after = server.find("://").map_or(0, |at| at + 3);
    let origin = server[after..].find('/').map_or(server, |end| &server[..after + end]);
    if credentials::is_from_here(headers, origin) { Ok(()) } else { Err(Error::CrossSite) }
}

/// The token is not for the repository of that name, which may not exist.
fn not_for(token: &Token, scope: Scope, repository: &str) -> Error {
    let suggested = SuggestedToken::beside(&token.record, scope, repository);
    Error::RepositoryNotNamed { token: token.record.name.clone(), repository: repository.to_owned(), suggested }
}

impl Access {
    /// The repository of that name, with the revision of its settings, if the caller may know that it exists. Where some repositories
    /// are private, a caller without a valid token gets the same answer for a private name as for one that does not exist,
    /// and so does a token for other repositories: a refusal, which build tools do not cache as they cache a 404.
    pub async fn repository(
        &self,
        repositories: &Repositories,
        name: &str,
        request: &Request,
        event: &mut Event,
    ) -> Result<(Arc<Repository>, Stamp), Error> {
        let known = repositories.table(event).await?;
        let found = known.by_name.get(name);
        let missing = || repository::Error::NoSuchRepository(name.to_owned());
        let private = match found {
            Some(repository) => repository.record.private,
            None => known.by_name.values().any(|repository| repository.record.private),
        };
        if private {
            let token = self.caller(request, event).await?.token;
            let scope = if matches!(request.method, Method::PUT | Method::POST) { Scope::Write } else { Scope::Read };
            let token = token.ok_or_else(|| Error::PrivateOrMissing { name: name.to_owned(), scope })?;
            if !found.map_or_else(|| token.is_for_all(), |repository| token.is_for(repository.id)) {
                return Err(not_for(&token, Scope::Read, name));
            }
        }
        let found = found.ok_or_else(missing)?;
        Ok((found.clone(), known.settings_of(found.id)))
    }

    /// Whether the caller may know that a repository exists. What they show may be no token at all, but a signature.
    pub async fn knows(&self, request: &Request, repository: &Repository, event: &mut Event) -> Result<bool, Error> {
        if !repository.record.private {
            return Ok(true);
        }
        match self.caller(request, event).await {
            Ok(caller) => Ok(caller.token.is_some_and(|token| token.is_for(repository.id))),
            Err(error) if error.is_of_no_token() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// The caller's token, if it is valid.
    pub async fn token(&self, request: &Request, event: &mut Event) -> Result<Option<Arc<Token>>, Error> {
        match self.caller(request, event).await {
            Ok(caller) => Ok(caller.token),
            Err(error) if error.is_of_no_token() => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The caller, if they have `scope` in `repository`. Anyone may read a public repository. Everything else needs a valid token,
    /// and changes need a one-time password where the token demands one.
    pub async fn content(
        &self,
        request: &Request,
        scope: Scope,
        repository: &Repository,
        event: &mut Event,
    ) -> Result<Caller, Error> {
        let headers = &request.headers;
        if scope != Scope::Read && credentials::is_cross_site(headers) {
            return Err(Error::CrossSite);
        }
        let open = scope == Scope::Read && !repository.record.private;
        let name = &repository.record.name;
        let caller = match scope {
            Scope::Read if open => self.anyone(request, event).await,
            Scope::Read => self.caller(request, event).await,
            _ => self.bearer(request, event).await,
        };
        match caller {
            Ok(caller) => match &caller.token {
                Some(token) if token.allows(scope, Some(repository.id)) => {
                    if scope != Scope::Read {
                        self.check_password(token, request, event).await?;
                    }
                    Ok(caller)
                }
                _ if open => Ok(caller),
                Some(token) if token.scoped(scope) => Err(not_for(token, scope, name)),
                Some(token) => {
                    let table = self.table(event).await?;
                    let maker = table.maker(token).filter(|maker| maker.allows(scope, Some(repository.id)));
                    let signed_in = maker.map(|maker| maker.record.name.clone());
                    let (suggested, token) =
                        (SuggestedToken::beside(&token.record, scope, name), token.record.name.clone());
                    Err(Error::ScopeMissing { token, scope, repository: Some(name.clone()), suggested, signed_in })
                }
                None => Err(Error::CredentialsMissing { scope, repository: Some(name.clone()) }),
            },
            Err(error) => Err(error),
        }
    }

    /// The caller, for an answer that anyone gets. Credentials that are unknown, or not believed now, count as none.
    pub async fn anyone(&self, request: &Request, event: &mut Event) -> Result<Caller, Error> {
        match self.caller(request, event).await {
            Err(error) if error.is_of_no_token() || error.is_of_doubt() => {
                let (client, stamp) = (request.recorded_client, self.table(event).await?.stamp);
                Ok(Caller { token: None, client, stamp })
            }
            known => known,
        }
    }

    /// The hosted repository to which a change at `path` is to be sent, as `repository` does not take it: of a group the first
    /// hosted member for which the caller has the scope, or else the first that the caller may read; beside any other repository
    /// the first of its format for which the caller has the scope. `None`: the caller may know of none.
    pub async fn publishes_to(
        &self,
        repositories: &Repositories,
        repository: &Repository,
        scope: Scope,
        path: &str,
        request: &Request,
        event: &mut Event,
    ) -> Result<Option<Arc<Repository>>, Error> {
        let caller = self.caller(request, event).await?;
        let known = repositories.table(event).await?;
        let is_group = repository.record.kind == RepositoryKind::Group;
        let mut hosted: Vec<_> = if is_group {
            repository.leaves.iter().filter_map(|leaf| known.by_name.get(&leaf.record.name)).collect()
        } else {
            let mut all: Vec<_> = known.by_name.values().filter(|one| one.format == repository.format).collect();
            all.sort_by(|a, b| a.record.name.cmp(&b.record.name));
            all
        };
        hosted.retain(|one| one.record.kind == RepositoryKind::Hosted && one.takes_version_at(path));
        let has =
            |scope, one: &Repository| caller.token.as_ref().is_some_and(|token| token.allows(scope, Some(one.id)));
        let may_change = hosted.iter().find(|one| has(scope, one));
        let may_read = || hosted.iter().find(|one| is_group && (!one.record.private || has(Scope::Read, one)));
        Ok(may_change.or_else(may_read).map(|one| Arc::clone(one)))
    }

    /// The token whose account a request is about. It must be for `repository`. Changes need a one-time password where the token
    /// demands one.
    pub async fn account(
        &self,
        request: &Request,
        repository: &Repository,
        changes: bool,
        event: &mut Event,
    ) -> Result<Arc<Token>, Error> {
        let headers = &request.headers;
        if changes && credentials::is_cross_site(headers) {
            return Err(Error::CrossSite);
        }
        // Not by a cookie: a key that is made here works for more than a session.
        let token = self.bearer(request, event).await?.token.ok_or(Error::AccountMissing)?;
        if !token.is_for(repository.id) {
            return Err(not_for(&token, Scope::Read, &repository.record.name));
        }
        if changes {
            self.check_password(&token, request, event).await?;
        }
        Ok(token)
    }

    /// The caller, if they have `scope` for the whole server.
    pub async fn server(
        &self,
        request: &Request,
        scope: Scope,
        changes: bool,
        event: &mut Event,
    ) -> Result<Caller, Error> {
        let headers = &request.headers;
        if credentials::is_cross_site(headers) {
            return Err(Error::CrossSite);
        }
        // Operators see the faults of a server that is cut off, and no package is among the answers.
        let caller =
            if changes { self.bearer(request, event).await? } else { self.caller_unchecked(request, event).await? };
        match &caller.token {
            Some(token) if token.allows(scope, None) => {
                if changes {
                    self.check_password(token, request, event).await?;
                }
                Ok(caller)
            }
            Some(token) if token.scoped(scope) => {
                Err(Error::OnlyForRepositories { token: token.record.name.clone(), scope })
            }
            Some(token) => {
                let token = token.record.name.clone();
                Err(Error::ScopeMissing { token, scope, repository: None, suggested: Box::default(), signed_in: None })
            }
            None => Err(Error::CredentialsMissing { scope, repository: None }),
        }
    }

    /// Whether the caller may revoke the token of that name without a scope or a password: their own token, or one that was made with
    /// it. With a password, the wrong attempts of a thief would keep the owner from revoking the stolen token. Returns the name
    /// under which the change is journaled; `None`: only an administrator may revoke it.
    pub async fn may_revoke(&self, request: &Request, name: &str, event: &mut Event) -> Result<Option<String>, Error> {
        if credentials::is_cross_site(&request.headers) {
            return Err(Error::CrossSite);
        }
        let Some(credentials) = Credentials::read(&request.headers) else { return Ok(None) };
        let table = self.table(event).await?;
        let by = table.find(&credentials, self.clock.now());
        Ok(by.filter(|by| table.made_with(name, by)).map(|by| by.record.name.clone()))
    }
}
