//! A request on its way to the page that the application wrote for it.

use super::fetch::{DAYLIGHT_STALE, is_trouble};
use super::visit;
use crate::app::App;
use crate::cache::key::KeyRef;
use crate::pages::wanted::Wanted;
use crate::pages::{Found, Instead, Pages};
use crate::pass::{Outgoing, PassError};
use front::{Reply, Request};
use http::HeaderValue;
use std::sync::Arc;
use telemetry::{Event, Layer, PageOutcome, Reason, Tick};

/// What the pages have for a request.
#[derive(Debug)]
pub(super) enum Page {
    /// The answer.
    Reply(Reply),
    /// The answer if the application fails.
    Instead(Instead),
    /// Nothing.
    None,
}

impl App {
    /// Looks for the page for a request, if a page may answer it.
    pub(super) async fn through_pages(
        self: &Arc<Self>,
        pages: &Pages,
        request: &mut Request,
        event: &mut Event,
    ) -> Page {
        match self.found(pages, request, event).await {
            Found::Page(outcome, reply, refill) => {
                sent(event, outcome);
                if let Some(refill) = refill
                    && let Some(claim) = pages.claims.begin(&refill.key, refill.version, refill.won, Tick::now())
                    && let Ok(outgoing) = Outgoing::of(self, request, event).await
                {
                    self.refill(claim, refill, &outgoing);
                }
                Page::Reply(reply)
            }
            Found::Nothing(outcome, instead) => {
                if let Some(outcome) = outcome {
                    tell(event, outcome);
                }
                instead.map_or(Page::None, Page::Instead)
            }
        }
    }

    async fn found(&self, pages: &Pages, request: &Request, event: &mut Event) -> Found {
        let forwarded = self.proxies.forwarded_url(request.peer, &request.headers).unwrap_or_default();
        let scheme = forwarded.scheme.as_deref();
        let tls = scheme.map_or(request.tls, |scheme| scheme.eq_ignore_ascii_case("https"));
        // The host that the application learns from `X-Forwarded-Host`.
        let host = forwarded.host.as_deref().or_else(|| request.host());
        let target = request.target();
        let url = host.zip(target.as_ref()).and_then(|(host, target)| KeyRef::new(tls, host, target.as_str()));
        let has_body = !request.upload.is_none();
        let wanted = url.and_then(|url| Wanted::of(&pages.options, url, &request.method, &request.headers, has_body));
        match wanted {
            Some(wanted) => pages.find(&wanted, event).await,
            None => Found::Nothing(None, None),
        }
    }
}

/// The answer of the application, or the page in its place if it failed.
pub(super) fn or_instead(
    pages: &Pages,
    answered: Result<Reply, PassError>,
    page: &Instead,
    event: &mut Event,
) -> Result<Reply, PassError> {
    let reason = match &answered {
        Ok(reply) if event.layer == Layer::App && is_trouble(reply.status) => Reason::UpstreamFailed,
        Err(error) if error.is_of_app() => error.reason(),
        _ => return answered,
    };
    let Some(mut reply) = pages.instead(page) else { return answered };
    sent(event, PageOutcome::HitError);
    event.reason = Some(reason);
    reply.headers.insert(DAYLIGHT_STALE, HeaderValue::from_static(reason.as_str()));
    Ok(reply)
}

/// Records that a page is the answer. An event of this layer needs no more to tell that it is a present one.
fn sent(event: &mut Event, outcome: PageOutcome) {
    event.layer = Layer::AppPages;
    if outcome != PageOutcome::Hit {
        visit::tell(event, "hit");
        tell(event, outcome);
    }
}

fn tell(event: &mut Event, outcome: PageOutcome) {
    event.more_mut().app.get_or_insert_default().page = outcome.as_str();
}
