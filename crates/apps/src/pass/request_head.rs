//! The head of a request as a backend gets it: without the headers that belong to the connection of the client, and with forwarding
//! headers that the application may trust.

mod names;

use crate::app::App;
use front::{ForwardedUrl, Request};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Version};
use std::cell::RefCell;
use std::net::IpAddr;
use telemetry::Millis;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");
/// By this header the server asks an application to write a page again (docs/hc1.md).
pub(crate) const DAYLIGHT_REFILL: HeaderName = HeaderName::from_static("daylight-refill");
const X_REQUEST_START: HeaderName = HeaderName::from_static("x-request-start");
/// The most headers that are added.
const OURS: usize = 8;

/// Takes the headers of a request, and makes them the headers for a backend. `upgrade`: the protocol to which the client wishes to change.
pub(super) fn of(app: &App, request: &mut Request, now: Millis, upgrade: Option<&HeaderValue>) -> HeaderMap {
    let forwarded = app.proxies.forwarded_url(request.peer, &request.headers);
    let started = forwarded.is_some().then(|| request.headers.get_all(X_REQUEST_START).iter().next_back()).flatten();
    let started = started.filter(|_| app.proxies.queued(request.peer, &request.headers, now) > 0).cloned();
    let (host, trailers) = (host(request), takes_trailers(&request.headers));
    // The front looks for `Upgrade` once more when it gets a tunnel.
    let mut headers = match upgrade {
        Some(_) => request.headers.clone(),
        None => std::mem::take(&mut request.headers),
    };
    remove_listed(&mut headers);
    let writes_pages = app.options.pages.is_some();
    remove_where(&mut headers, |name, headers| {
        names::is_of_connection(name)
            || names::is_of_proxies(name)
            || matches!(name, "expect" | "content-length")
            || (writes_pages && matches!(name, "daylight-refill" | "daylight_refill"))
            || (name.contains('_') && is_shadow(name, headers))
    });
    headers.reserve(OURS);
    forward(&mut headers, request, host.as_ref(), forwarded, started, now);
    if let Some(host) = host.or_else(|| HeaderValue::from_str(fallback_host(app)).ok()) {
        headers.insert(header::HOST, host);
    }
    if trailers {
        headers.insert(header::TE, HeaderValue::from_static("trailers"));
        headers.insert(header::CONNECTION, HeaderValue::from_static("te"));
    }
    if let Some(upgrade) = upgrade {
        headers.insert(header::UPGRADE, upgrade.clone());
        headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    }
    for (name, value) in app.roots.request_headers() {
        headers.insert(name.clone(), value.clone());
    }
    headers
}

/// The protocol to which a client wishes to change, such as `websocket`. Not HTTP/2 and not TLS: a backend would then answer requests that
/// nobody sees here.
pub(super) fn upgrade(request: &Request) -> Option<HeaderValue> {
    let plain = request.method == Method::GET && request.version == Version::HTTP_11 && request.upload.is_none();
    let mut wanted = request.headers.get_all(header::UPGRADE).iter();
    let (wanted, None) = (wanted.next()?, wanted.next()) else { return None };
    let hidden = |protocol: &str| {
        let name = protocol.split('/').next().unwrap_or_default().trim();
        ["h2c", "h2", "http", "tls"].iter().any(|hidden| name.eq_ignore_ascii_case(hidden))
    };
    let passes = !wanted.is_empty() && wanted.to_str().is_ok_and(|protocols| !protocols.split(',').any(hidden));
    (plain && passes && tokens(&request.headers, &header::CONNECTION).any(|token| token == "upgrade"))
        .then(|| wanted.clone())
}

/// Removes the fields of one connection.
pub(super) fn remove_connection(headers: &mut HeaderMap) {
    remove_listed(headers);
    remove_where(headers, |name, _| names::is_of_connection(name));
}

/// Removes the fields that `Connection` names.
fn remove_listed(headers: &mut HeaderMap) {
    let names_none = |line: &HeaderValue| {
        [&b"keep-alive"[..], b"close", b"upgrade"].iter().any(|option| line.as_bytes().eq_ignore_ascii_case(option))
    };
    if headers.get_all(header::CONNECTION).iter().all(names_none) {
        return;
    }
    let listed: Vec<String> = tokens(headers, &header::CONNECTION).collect();
    for name in listed {
        // Without these a request would mean something else (RFC 9110, 7.6.1: a sender must not list them).
        if !["host", "cache-control", "content-length", "content-type"].contains(&name.as_str()) {
            headers.remove(name);
        }
    }
}

/// Removes the headers of these names.
fn remove_where(headers: &mut HeaderMap, is: impl Fn(&str, &HeaderMap) -> bool) {
    let names: Vec<HeaderName> = headers.keys().filter(|name| is(name.as_str(), headers)).cloned().collect();
    for name in names {
        headers.remove(name);
    }
}

/// Removes trailers that a server could take for headers with a meaning for the request itself (RFC 9110, 6.5.1): unicorn puts trailers
/// among the headers.
pub(super) fn clean_trailers(trailers: &mut HeaderMap) {
    remove_where(trailers, |name, _| {
        names::is_of_connection(name)
            || names::is_of_proxies(name)
            || names::is_no_trailer(name)
            || name.contains('_')
            || ["if-", "content-", "x-forwarded"].iter().any(|prefix| name.starts_with(prefix))
    });
}

/// The elements of a list, in lower case.
fn tokens<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = String> + use<'a> {
    let lines = headers.get_all(name).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| {
        line.split(',').map(|token| token.trim().to_ascii_lowercase()).filter(|token| !token.is_empty())
    })
}

fn takes_trailers(headers: &HeaderMap) -> bool {
    tokens(headers, &header::TE).any(|coding| coding.split(';').next().is_some_and(|name| name.trim() == "trailers"))
}

/// Whether CGI, WSGI and Rack would merge a name with `_` with another header: both become one variable.
fn is_shadow(name: &str, headers: &HeaderMap) -> bool {
    let meant = name.replace('_', "-");
    let known = names::is_of_connection(&meant) || names::is_of_proxies(&meant) || names::is_shadowed(&meant);
    known || headers.contains_key(meant)
}

/// The host as the client sent it.
fn host(request: &Request) -> Option<HeaderValue> {
    let host = request.host().filter(|host| !host.is_empty())?;
    let sent = request.headers.get(header::HOST).filter(|sent| sent.as_bytes() == host.as_bytes());
    sent.cloned().or_else(|| HeaderValue::from_str(host).ok())
}

/// The host of requests without one (HTTP/1.0).
fn fallback_host(app: &App) -> &str {
    app.options.hosts.iter().find(|host| !host.starts_with('*')).map_or("localhost", String::as_str)
}

/// Sets the forwarding headers. The address is that of the client, as far as it is known, and then the trusted proxy that named it.
fn forward(
    headers: &mut HeaderMap,
    request: &Request,
    host: Option<&HeaderValue>,
    forwarded: Option<ForwardedUrl>,
    started: Option<HeaderValue>,
    now: Millis,
) {
    let mut set = |name: HeaderName, value: Option<HeaderValue>| {
        if let Some(value) = value {
            headers.insert(name, value);
        }
    };
    let text = |text: &str| HeaderValue::from_str(text).ok();
    let forwarded = forwarded.unwrap_or_default();
    let real = address(request.client);
    let through = || text(&format!("{}, {}", request.client, request.peer));
    set(X_FORWARDED_FOR, if request.peer == request.client { real.clone() } else { through() });
    set(X_REAL_IP, real);
    let is_known = |scheme: &&str| ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    let named = forwarded.scheme.as_deref().filter(is_known);
    let is_https = named.map_or(request.tls, |named| named.len() == "https".len());
    set(X_FORWARDED_PROTO, Some(HeaderValue::from_static(if is_https { "https" } else { "http" })));
    set(X_FORWARDED_HOST, forwarded.host.as_deref().and_then(text).or_else(|| host.cloned()));
    // In milliseconds, as Heroku's router and thruster send it.
    set(X_REQUEST_START, started.or_else(|| text(&format!("t={}", now.0))));
}

/// An address as a value. Many requests in a row come from one client, or through one proxy.
fn address(of: IpAddr) -> Option<HeaderValue> {
    thread_local!(static LAST: RefCell<Option<(IpAddr, HeaderValue)>> = const { RefCell::new(None) });
    LAST.with_borrow_mut(|last| {
        if last.as_ref().is_none_or(|(known, _)| *known != of) {
            *last = HeaderValue::try_from(of.to_string()).ok().map(|value| (of, value));
        }
        last.as_ref().map(|(_, value)| value.clone())
    })
}

#[cfg(test)]
mod tests;
