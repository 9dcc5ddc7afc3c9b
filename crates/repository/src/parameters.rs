//! What comes with a question beside its path: a query, a form, and the URL by which the client reaches the repository.

use crate::error::Error;
use crate::origin::OriginClaim;
use format::percent::{Form, segment};
use std::fmt::Debug;

/// What comes with a question beside its path.
#[derive(Debug, Clone, Copy, Default)]
pub struct Parameters<'a> {
    /// The query, without its question mark.
    pub query: &'a str,
    /// The form in the body, as bytes.
    pub form: &'a [u8],
    /// The URL of the server, without a slash at its end.
    pub server: &'a str,
    /// The repository's name as the URL has it, with the moment as of which it is seen.
    pub segment: &'a str,
    /// What an upload claims of its publication elsewhere.
    pub origin: Option<&'a OriginClaim>,
    /// Who has a token, where the question may name somebody.
    pub people: Option<&'a dyn People>,
}

/// Who has a token on this server.
pub trait People: Debug + Sync {
    /// Whether a token belongs to this person or machine.
    fn has_token(&self, owner: &str) -> bool;
}

impl<'a> Parameters<'a> {
    /// The URL by which the client reaches the repository, without a slash at its end.
    pub(crate) fn base(&self) -> String {
        format!("{}/repository/{}", self.server, segment(self.segment))
    }

    /// The query.
    pub(crate) fn query(&self) -> Form<'a> {
        Form(self.query)
    }

    /// The form in the body.
    pub(crate) fn form(&self) -> Result<Form<'a>, Error> {
        let form = std::str::from_utf8(self.form).map_err(|_| Error::Input("the form is not UTF-8".into()))?;
        Ok(Form(form))
    }
}
