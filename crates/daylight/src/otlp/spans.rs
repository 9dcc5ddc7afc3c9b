//! A stored event as a span, by the semantic conventions of OpenTelemetry for HTTP servers.

use super::attributes::Attributes;
use super::proto::{Link, Span, Status, Value};
use insight::RepositoryFacts;
use telemetry::{Event, EventId, Kind, MemberRecord, Outcome, Reason};

const INTERNAL: i32 = 1;
const SERVER: i32 = 2;
/// The code of the status of a span that failed. Others have none (semantic conventions for HTTP spans: a server leaves 4xx unset).
const ERROR: i32 = 2;
/// The lowest bit of the flags of W3C Trace Context: sampled.
const SAMPLED: u32 = 1;
/// It is known whether the parent is in another process, and it is.
const REMOTE_PARENT: u32 = 0x300;

/// The server of the spans, as its clients name it.
#[derive(Debug, Clone, Default)]
pub(super) struct ServerName {
    /// Without the port.
    pub(super) address: String,
    /// 0: unknown.
    pub(super) port: u16,
    /// `http` or `https`.
    pub(super) scheme: String,
}

/// The span of an event. `facts`: those of its repository, empty if there is none of its name.
pub(super) fn span(event: &Event, facts: RepositoryFacts, server: &ServerName) -> Span {
    let is_job = event.kind == Kind::Job;
    let trace = event.more.as_ref().and_then(|more| more.trace);
    let start = u64::try_from(event.at.0).unwrap_or(0).saturating_mul(1_000_000);
    let route = event.route(facts.format);
    let mut attributes = Attributes::default();
    if !is_job {
        http(event, route, server, &mut attributes);
    }
    ours(event, facts, &mut attributes);
    // The span's name has few values: never the path.
    let name = if is_job { event.method.to_owned() } else { format!("{} {route}", method(event)) };
    Span {
        trace_id: trace.map_or_else(|| trace_of(event.id), |trace| trace.id.to_be_bytes()).to_vec(),
        span_id: span_of(event.id).to_vec(),
        // The threshold says "sampled with this probability, by the bits of the trace's id". Other weights than 1 come from counts of
        // kinds of events, and a client that traces has sampled before.
        trace_state: if event.weight == 1 && trace.is_none() { "ot=th:0".to_owned() } else { String::new() },
        parent_span_id: trace.map(|trace| trace.parent.to_be_bytes().to_vec()).unwrap_or_default(),
        name: name.trim_start().to_owned(),
        kind: if is_job { INTERNAL } else { SERVER },
        start_time_unix_nano: start,
        end_time_unix_nano: start.saturating_add(event.duration),
        attributes: attributes.done(),
        links: links(event),
        status: failed(event).then(|| Status { message: event.detail.clone(), code: ERROR }),
        flags: if trace.is_some() { SAMPLED | REMOTE_PARENT } else { SAMPLED },
    }
}

/// The trace of an event that its client does not trace: the event's id, and bits that look random, because samplers of other programs
/// decide by the last 56 bits (W3C Trace Context level 2).
fn trace_of(id: EventId) -> [u8; 16] {
    // SplitMix64.
    let mut mixed = id.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^= mixed >> 31;
    // 0 would be no trace.
    (u128::from(id.0) << 64 | u128::from(mixed.max(1))).to_be_bytes()
}

/// The span of an event: its id, so `Daylight-Event` names the span.
fn span_of(id: EventId) -> [u8; 8] {
    id.0.max(1).to_be_bytes()
}

/// The fetches for which it waited, which have spans of their own.
fn links(event: &Event) -> Vec<Link> {
    let of_members = event.members.iter().filter_map(|member| member.flight);
    let own = event.upstream().and_then(|used| used.flight);
    let mut flights: Vec<EventId> = of_members.chain(own).collect();
    flights.sort_unstable();
    flights.dedup();
    let link = |id: EventId| Link { trace_id: trace_of(id).to_vec(), span_id: span_of(id).to_vec() };
    flights.into_iter().map(link).collect()
}

/// The method as the conventions name it.
fn method(event: &Event) -> &'static str {
    if matches!(event.method, "" | "OTHER") { "_OTHER" } else { event.method }
}

fn failed(event: &Event) -> bool {
    event.status >= 500 || matches!(event.outcome, None | Some(Outcome::Failed | Outcome::Shed))
}

fn http(event: &Event, route: &str, server: &ServerName, attributes: &mut Attributes) {
    attributes.text("http.request.method", method(event));
    attributes.text("http.route", route);
    attributes.text("url.path", &event.path);
    attributes.text("url.scheme", &server.scheme);
    attributes.some("http.response.status_code", event.status.into());
    if let Some((_, version)) = event.protocol.split_once('/') {
        attributes.text("network.protocol.name", "http");
        attributes.text("network.protocol.version", version);
    }
    attributes.text("client.address", &event.client);
    attributes.text("user_agent.original", &event.agent);
    attributes.text("server.address", &server.address);
    attributes.some("server.port", server.port.into());
    attributes.number("http.request.body.size", event.bytes_in);
    attributes.number("http.response.body.size", event.bytes_out);
    if failed(event) || event.outcome == Some(Outcome::ClientGone) {
        let outcome = event.outcome.unwrap_or(Outcome::Failed).as_str();
        let status = event.status.to_string();
        attributes.text("error.type", if event.status >= 500 { &status } else { outcome });
    }
}

/// The fields that no convention names.
fn ours(event: &Event, facts: RepositoryFacts, attributes: &mut Attributes) {
    let id = event.id.to_string();
    let text: [(&str, &str); 16] = [
        ("daylight.event", &id),
        ("daylight.repository", &event.subject.repository),
        ("daylight.repository.kind", facts.kind),
        ("daylight.repository.format", facts.format),
        ("daylight.package", &event.subject.package),
        ("daylight.version", &event.subject.version),
        ("daylight.file", event.subject.kind),
        ("daylight.token", &event.token),
        ("daylight.outcome", event.outcome.unwrap_or(Outcome::Failed).as_str()),
        ("daylight.reason", event.reason.map_or("", Reason::as_str)),
        ("daylight.detail", &event.detail),
        ("daylight.layer", event.layer.as_str()),
        ("daylight.class", event.class.map_or("", telemetry::Class::as_str)),
        ("daylight.kept_because", event.because.as_str()),
        ("daylight.app.cache", event.app_cache()),
        ("daylight.app.page", event.app_page()),
    ];
    text.into_iter().for_each(|(key, text)| attributes.text(key, text));
    if event.first_byte > 0 {
        attributes.millis("daylight.first_byte_ms", event.first_byte);
    }
    // `SampleRate` is the name that Honeycomb reads.
    attributes.number("daylight.weight", event.weight.into());
    attributes.number("SampleRate", event.weight.into());
    for (op, tally) in event.tallies() {
        attributes.millis(&format!("daylight.op.{}.ms", op.as_str()), tally.nanos);
        attributes.number(&format!("daylight.op.{}.count", op.as_str()), tally.count.into());
    }
    members(&event.members, attributes);
    let Some(more) = &event.more else { return };
    attributes.some("daylight.size", more.size.into());
    if more.queued_outside > 0 {
        attributes.millis("daylight.queued_outside_ms", more.queued_outside);
    }
    if let Some(used) = &more.upstream {
        attributes.text("daylight.upstream.host", &used.host);
        attributes.some("daylight.upstream.status", used.status.into());
        attributes.number("daylight.upstream.calls", used.calls.into());
        attributes.some("daylight.upstream.bytes", used.bytes);
    }
    if let Some(used) = &more.app {
        attributes.text("daylight.app.lane", &used.lane);
        attributes.text("daylight.app.backend", &used.backend);
    }
    if let Some(memory) = &more.memory {
        attributes.number("daylight.memory.before_bytes", memory.before);
        attributes.number("daylight.memory.highest_bytes", memory.highest);
    }
}

/// The members in order. When each was asked is not recorded, so they are no spans: parallel lists.
fn members(members: &[MemberRecord], attributes: &mut Attributes) {
    let each = |key: &str, value: fn(&MemberRecord) -> Value, attributes: &mut Attributes| {
        attributes.list(key, members.iter().map(value));
    };
    each("daylight.members", |member| Value::Text(member.member.clone()), attributes);
    each("daylight.members.said", |member| Value::Text(member.said.as_str().to_owned()), attributes);
    each("daylight.members.ms", |member| Value::Double(member.nanos as f64 / 1e6), attributes);
}

#[cfg(test)]
mod tests;
