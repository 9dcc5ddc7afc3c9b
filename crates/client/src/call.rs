//! One call, from the URL to the last byte of the answer.

use crate::connection::Connection;
use crate::error::Error;
use crate::request::{ClientOptions, Request, Response};

/// Makes calls. Redirects are answers like any other.
#[derive(Debug, Clone)]
pub struct Client {
    options: ClientOptions,
}

impl Client {
    /// A client with these limits.
    pub fn new(options: ClientOptions) -> Self {
        Self { options }
    }

    /// Calls over a connection of its own, and waits for the whole answer.
    pub async fn call(&self, request: Request) -> Result<Response, Error> {
        Connection::new(self.options.clone()).call(request).await
    }
}

#[cfg(test)]
mod tests;
