//! A single call of the command line, from the URL to the last byte of the response.

use crate::connection::Connection;
use crate::error::Error;
use crate::request::{ClientOptions, Request, Response};

/// Makes single calls. Redirects are not followed.
#[derive(Debug, Clone)]
pub struct Client {
    options: ClientOptions,
}

impl Client {
    /// A client with these limits.
    pub fn new(options: ClientOptions) -> Self {
        Self { options }
    }

    /// Calls over a new connection, and waits for the whole response.
    pub async fn call(&self, request: Request) -> Result<Response, Error> {
        Connection::new(self.options.clone()).call(request).await
    }
}

#[cfg(test)]
mod tests;
