//! The list of a folder as HTML, in the form of Maven Central's own lists, which programs read.

use crate::app::App;
use crate::error::{Error, Result};
use crate::reply;
use crate::reply::cache_headers;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use front::{Body, Reply};
use http::{HeaderValue, header};
use repository::{Ask, FolderList};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use store::Lane;
use telemetry::{Event, Op, give_way};
use web::{Moment, folder};

/// The HTML, and the list, whose memory it counts in.
struct Page {
    html: String,
    _list: Arc<FolderList>,
}

impl AsRef<[u8]> for Page {
    fn as_ref(&self) -> &[u8] {
        self.html.as_bytes()
    }
}

/// The reply with a list.
pub(crate) async fn of(app: &App, list: Arc<FolderList>, ask: &Ask<'_>, event: &mut Event) -> Result<Reply> {
    let title = format!("{}/{}/", ask.parameters.segment, list.path);
    let (freshness, rows) = (list.freshness, list.clone());
    let make = move || -> Result<(String, String), web::NotRendered> {
        let mut html = folder::begin(&title)?;
        for row in &rows.rows {
            give_way();
            html += &folder::row(&row.name, row.at.map(|at| Moment(at.to_string())), row.size_bytes)?;
        }
        html += folder::END;
        let etag = format!("\"{}\"", STANDARD.encode(Sha256::digest(&html)));
        Ok((html, etag))
    };
    let (html, etag) = match list.rows.len() {
        ..=FEW => event.time(Op::ReplyMake, make),
        _ => app.repositories.workers().run(Lane::Index, Op::ReplyMake, event, move |()| make()).await?,
    }
    .map_err(Error::NotRendered)?;
    let mut reply = reply::page(String::new(), true);
    reply.body = Body::Bytes(Bytes::from_owner(Page { html, _list: list }));
    let headers = &mut reply.headers;
    headers.remove(header::VARY);
    let private = ask.repository.record.private;
    let kept = if private { "private, no-cache" } else { "public, no-cache" };
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(kept));
    if let Ok(etag) = HeaderValue::try_from(etag) {
        headers.insert(header::ETAG, etag);
    }
    if let Some(freshness) = freshness {
        cache_headers::insert(headers, freshness);
    }
    Ok(reply)
}

/// Rows that are rendered in about the time of two thread switches.
const FEW: usize = 16;
