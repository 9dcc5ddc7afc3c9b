//! The inputs of a question besides its path: a query, a form, and the URL that the client uses for the repository.

use crate::error::{Error, Result};
use crate::origin::OriginClaim;
use crate::write_conditions::WriteConditions;
use format::percent::{Form, segment};
use std::fmt::Debug;

/// The inputs of a question besides its path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parameters<'a> {
    /// The query, without its question mark.
    pub query: &'a str,
    /// The form in the body, as bytes.
    pub form: &'a [u8],
    /// The URL of the server.
    pub server: Option<&'a dyn ServerUrl>,
    /// The repository's name as the URL has it, including an as-of moment.
    pub segment: &'a str,
    /// The original publication that an upload claims.
    pub origin: Option<&'a OriginClaim>,
    /// The conditions of a change.
    pub conditions: Option<&'a WriteConditions>,
    /// The owners of tokens, for questions that may name a person.
    pub people: Option<&'a dyn People>,
}

/// The URL by which the client reaches the server.
pub trait ServerUrl: Debug + Sync {
    /// The URL, without a slash at its end. An answer that has it is for this client alone.
    fn url(&self) -> String;
}

/// The owners of the tokens of this server.
pub trait People: Debug + Sync {
    /// Whether this person or machine owns a token.
    fn has_token(&self, owner: &str) -> bool;
}

impl<'a> Parameters<'a> {
    /// The URL that the client uses for the repository, without a slash at its end.
    pub(crate) fn base(&self) -> String {
        let server = self.server.map(ServerUrl::url).unwrap_or_default();
        format!("{server}/repository/{}", segment(self.segment))
    }

    /// The query.
    pub(crate) fn query(&self) -> Form<'a> {
        Form(self.query)
    }

    /// The form in the body.
    pub(crate) fn form(&self) -> Result<Form<'a>> {
        let form = std::str::from_utf8(self.form).map_err(|_| Error::Input("the form is not UTF-8".into()))?;
        Ok(Form(form))
    }
}
