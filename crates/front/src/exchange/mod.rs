//! One request and its reply. The exchange owns the event, the handler borrows it, and the state of the connection
//! ends it.

pub(crate) mod attempt;
pub(crate) mod context;
pub(crate) mod drain;
mod switch;
mod working;

use crate::body::OutgoingBody;
use crate::body::chunk::{Chunk, Data};
use crate::body::sendfile::FilePart;
use crate::conditional;
use crate::connection::interims::OpenInterims;
use crate::handler::Handler;
use crate::limits::Limits;
use crate::pages::{PageSearch, Pages, PreparedPage};
use crate::reply::{Body, DAYLIGHT_EVENT, Reply};
use crate::request::interim::{Interim, InterimQueue};
use crate::request::upload::Upload;
use crate::request::{Request, framing, one_form, trace};
use attempt::{OpenEvent, RequestFacts};
use bytes::Bytes;
use context::ConnectionContext;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response, StatusCode, Version, header};
use hyper::ext::ReasonPhrase;
use std::any::Any;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::rc::Rc;
use std::task::Poll;
use telemetry::{Event, EventId, Op, OpenRequest, OpsUnderWay, Outcome, Reason, Tick, panic_message};
use working::Working;

/// Runs one request until its reply. Its event counts from the call and not from the first poll: in between the
/// protocol may notice that the client has disconnected.
pub(crate) fn exchange(
    connection: Rc<ConnectionContext>,
    head: Parts,
    upload: Upload,
    search: PageSearch,
) -> impl Future<Output = Response<OutgoingBody>> {
    let facts = RequestFacts {
        method: method_name(&head.method),
        protocol: protocol(head.version),
        path: head.uri.path(),
        agent: head.headers.get(header::USER_AGENT).map(HeaderValue::as_bytes),
        forwarded: connection.proxies.client(connection.client, &head.headers),
        is_probe: connection
            .state
            .recorder()
            .probes()
            .is_probe(head.uri.path(), |name| head.headers.get(name).map(|mark| mark.as_bytes().to_vec())),
    };
    let mut open_event = OpenEvent::begin(&connection, &facts);
    if let Some(event) = &mut open_event.event {
        record_origin(&connection, &head.headers, event);
    }
    continued(connection, open_event, head, upload, search)
}

/// Continues with a request that no stored reply has answered.
pub(crate) async fn continued(
    connection: Rc<ConnectionContext>,
    open_event: OpenEvent,
    head: Parts,
    upload: Upload,
    search: PageSearch,
) -> Response<OutgoingBody> {
    answer(&connection, open_event, head, upload, search).await
}

/// Records what the headers tell of the way to this server: how long the request waited at a proxy, and the trace of its
/// client.
fn record_origin(connection: &ConnectionContext, headers: &HeaderMap, event: &mut Event) {
    // Until the first byte arrived. The event has the time of the last byte of the head.
    let queued = connection.proxies.queued(connection.client, headers, event.at);
    let queued = queued.saturating_sub(event.tally(Op::HeadRead).nanos);
    if queued > 0 {
        event.more_mut().queued_outside = queued;
    }
    if let Some(trace) = trace::of(headers) {
        event.more_mut().trace = Some(trace);
    }
}

/// Answers one request with a page, or a stored reply, that was found at `found`. `record` records the lookup, which began at the end
/// of the head. Returns the id of the event, and the body, which is empty unless `sends_body`.
pub(crate) fn prepared(
    connection: &ConnectionContext,
    mut open_event: OpenEvent,
    page: PreparedPage,
    found: Tick,
    sends_body: bool,
    record: impl FnOnce(&mut Event, u64),
) -> (EventId, Chunk) {
    let mut id = EventId::default();
    let head_end = open_event.head_end;
    if let Some(event) = &mut open_event.event {
        record(event, found.since(head_end));
        (event.subject, event.reason) = (page.subject, page.reason);
        (event.status, event.outcome) = (page.status.as_u16(), Some(outcome(page.status, || false, None)));
        id = event.id;
    }
    let ConnectionContext { state, file_access, sendfile, .. } = connection;
    let delivery = open_event.into_delivery(found, None);
    let data = match page.file {
        _ if !sends_body => Data::Memory(Bytes::new()),
        Some(file) if *sendfile => {
            let len = page.body.len() as u64;
            let part = FilePart::in_memory(file, len, delivery.clone(), file_access.threads.clone());
            state.show_file(&part);
            Data::File(part)
        }
        _ => Data::Memory(page.body),
    };
    (id, Chunk::whole(data, delivery))
}

async fn answer(
    connection: &ConnectionContext,
    mut open_event: OpenEvent,
    head: Parts,
    upload: Upload,
    search: PageSearch,
) -> Response<OutgoingBody> {
    let ConnectionContext { handler, limits, file_access, state, .. } = connection;
    let (client, head_end, parsed) = (open_event.client, open_event.head_end, Tick::now());
    let Some(event) = open_event.event.as_mut() else {
        unreachable!("an open event keeps its event until there is a reply")
    };
    // HTTP/2 cuts bodies into frames, so it needs their bytes.
    let (version, sendfile) = (head.version, connection.sendfile && head.version < Version::HTTP_2);
    let (method, conditions) = (head.method.clone(), conditional::Conditions::new(&head.headers));
    let (unread, expects) = (upload.unread(), head.headers.contains_key(header::EXPECT));
    let (mut open, mut found) = (None, None);
    let reply = if let Some(reply) = refused(&head, limits, event) {
        drop(upload);
        event.add(Op::HeadParse, parsed.since(head_end));
        reply
    } else {
        let Parts { method, uri, headers, .. } = head;
        // Passed by reference: it is large, and would be copied into each future that owns it.
        let (peer, ends, tls) = (connection.client, connection.ends, connection.tls);
        let recorded_client = state.recorder().client_addresses().recorded(client);
        let interim = Interim::default();
        let mut request =
            Request { method, uri, headers, client, recorded_client, peer, ends, tls, version, upload, interim };
        match page(handler.as_ref(), &request, search, head_end, parsed, event) {
            Some((reply, at)) => {
                found = Some(at);
                reply
            }
            None => {
                event.add(Op::HeadParse, parsed.since(head_end));
                let working = Working::begin(state.recorder().open_requests(), event, &request, &mut open);
                one_form::of(&mut request);
                let interims = (version >= Version::HTTP_11).then(|| OpenInterims::begin(&state.interims));
                request.interim = interims.as_ref().map(OpenInterims::interim).unwrap_or_default();
                let queue = interims.as_ref().map(|interims| &*interims.queue);
                let reply = guarded(handler.as_ref(), &mut request, working, queue, event).await;
                if let Some(queue) = queue {
                    poll_fn(|cx| queue.poll_closed(cx)).await;
                }
                request.interim = Interim::default();
                let may_switch = unread.is_none() && request.version == Version::HTTP_11;
                switch::checked(reply, may_switch && request.headers.contains_key(header::UPGRADE), event)
            }
        }
    };
    let mut reply = conditional::apply(reply, &method, &conditions);
    if version < Version::HTTP_11 {
        whole(&mut reply, open.as_ref(), event).await;
    }
    if unread.is_some_and(|unread| !drain::discard(&unread, version, expects, limits, state)) {
        reply.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    event.status = reply.status.as_u16();
    event.outcome = event
        .outcome
        .or_else(|| Some(outcome(reply.status, || reply.headers.contains_key(header::RETRY_AFTER), event.reason)));
    if let Ok(id) = HeaderValue::from_bytes(&event.id.digits()) {
        reply.headers.insert(DAYLIGHT_EVENT, id);
    }
    if state.closing() && reply.status != StatusCode::SWITCHING_PROTOCOLS {
        reply.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    let delivery = open_event.into_delivery(found.unwrap_or_else(Tick::now), open);
    let named = conditional::named_length(&reply);
    let body = OutgoingBody::new(reply.body, delivery, state, file_access, sendfile).naming(named);
    let mut response = Response::new(body);
    *response.status_mut() = reply.status;
    *response.headers_mut() = reply.headers;
    if let Some(phrase) = reply.phrase.as_deref().and_then(|phrase| ReasonPhrase::try_from(phrase.as_bytes()).ok()) {
        response.extensions_mut().insert(phrase);
    }
    response
}

/// The reply to a request that no handler may see.
fn refused(head: &Parts, limits: &Limits, event: &mut Event) -> Option<Reply> {
    if head.uri.path_and_query().is_some_and(|uri| uri.as_str().len() > limits.uri) {
        event.reason = Some(Reason::TooLarge);
        return Some(Reply::text(StatusCode::URI_TOO_LONG, "the URL is too long\n"));
    }
    if head.headers.len() > limits.headers {
        event.reason = Some(Reason::TooLarge);
        return Some(Reply::text(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, "there are too many headers\n"));
    }
    let (status, why) = framing::refusal(head)?;
    (event.outcome, event.reason) = (Some(Outcome::Malformed), Some(Reason::InputInvalid));
    let mut reply = Reply::text(status, why);
    // It is unclear where the request ends, so nothing after it is read.
    reply.headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    Some(reply)
}

/// HTTP/1.0 marks the end of a body of unknown length by closing the connection, so a client cannot tell a part from
/// the whole. Such a body is sent when it is complete.
async fn whole(reply: &mut Reply, open: Option<&OpenRequest>, event: &mut Event) {
    let Body::Growing(growing) = &mut reply.body else { return };
    if let Some(open) = open {
        open.waits(OpsUnderWay::only(Op::FlightWait));
    }
    match event.during(Op::FlightWait, growing.whole()).await {
        Ok(None) => {}
        Ok(Some((file, len))) => reply.body = Body::file(file, len),
        Err(error) => {
            (event.outcome, event.reason) = (Some(Outcome::Failed), Some(Reason::BrokeOff));
            event.detail = error.to_string();
            *reply = Reply::text(StatusCode::BAD_GATEWAY, "the requested file broke off while it was being fetched\n");
        }
    }
}

/// The page for a request, and when it was found. A panic becomes a 500, and the connection continues.
fn page(
    handler: &dyn Handler,
    request: &Request,
    search: PageSearch,
    head_end: Tick,
    parsed: Tick,
    event: &mut Event,
) -> Option<(Reply, Tick)> {
    let hit = |pages: &Pages| pages.hit(request, search, head_end, parsed, event);
    let found = catch_unwind(AssertUnwindSafe(|| handler.pages().and_then(hit)));
    found.unwrap_or_else(|panic| Some((panicked(panic.as_ref(), event), Tick::now())))
}

/// Calls the handler. A panic becomes a 500, and the connection continues.
async fn guarded(
    handler: &dyn Handler,
    request: &mut Request,
    working: Working<'_>,
    interims: Option<&InterimQueue>,
    event: &mut Event,
) -> Reply {
    let outcome = {
        // In a block of its own, so that no code of the handler runs before the first poll.
        let mut answer = pin!(async { handler.answer(request, event).await });
        let answered = working.until(|cx| match catch_unwind(AssertUnwindSafe(|| answer.as_mut().poll(cx))) {
            Ok(Poll::Pending) => {
                interims.into_iter().for_each(|interims| interims.wakes(cx));
                Poll::Pending
            }
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        });
        answered.await
    };
    outcome.unwrap_or_else(|panic| panicked(panic.as_ref(), event))
}

/// The reply after a panic.
fn panicked(panic: &(dyn Any + Send), event: &mut Event) -> Reply {
    event.outcome = Some(Outcome::Failed);
    event.reason = Some(Reason::Panicked);
    event.detail = Event::text(panic_message(panic));
    Reply::text(StatusCode::INTERNAL_SERVER_ERROR, "internal error\n")
}

/// Methods as events name them: a closed set, whatever clients send.
pub(crate) fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::PATCH => "PATCH",
        Method::OPTIONS => "OPTIONS",
        _ => "OTHER",
    }
}

/// Protocols as events name them.
fn protocol(version: Version) -> &'static str {
    match version {
        Version::HTTP_2 => "HTTP/2",
        Version::HTTP_11 => "HTTP/1.1",
        _ => "HTTP/1.0",
    }
}

/// The outcome for a status, when the handler has set none.
/// `asks_again`: whether the reply names a time to ask again.
fn outcome(status: StatusCode, asks_again: impl FnOnce() -> bool, reason: Option<Reason>) -> Outcome {
    match status.as_u16() {
        304 => Outcome::NotModified,
        300..=399 => Outcome::Redirected,
        404 | 410 => Outcome::NotFound,
        400..=499 => Outcome::Refused,
        // An upstream that is not called is its failure, and no lack of room here.
        503 if !reason.is_some_and(Reason::is_of_upstream) && asks_again() => Outcome::Shed,
        500.. => Outcome::Failed,
        _ => Outcome::Answered,
    }
}
