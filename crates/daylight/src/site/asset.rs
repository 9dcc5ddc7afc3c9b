//! `/assets/NAME`: the stylesheet and the scripts.

use crate::error::{Error, Result};
use crate::reply;
use front::Reply;
use telemetry::Event;

/// The answer with the asset of this name. The name contains a hash of the content, so another version has another URL.
pub(super) fn answer(name: &str) -> Result<Reply> {
    let asset = web::asset(name).ok_or_else(|| Error::NoSuchRoute(Event::text(&format!("/assets/{name}"))))?;
    Ok(reply::asset(&asset))
}
