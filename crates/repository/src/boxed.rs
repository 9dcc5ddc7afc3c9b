//! Futures in boxes, for methods of traits that formats implement.

use crate::error::Error;
use std::pin::Pin;

/// Work for a request, on the thread that the request is on.
pub(crate) type Trying<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + 'a>>;
/// Work in the background.
pub(crate) type Work<'a> = Pin<Box<dyn Future<Output = ()> + Send + 'a>>;
