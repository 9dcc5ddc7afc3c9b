//! The head of a request as a backend gets it: without the headers that belong to the connection of the client, and with forwarding
//! headers that the application may trust.

mod names;

use names::{NO_TRAILERS, OF_CONNECTION, OF_PROXIES, SHADOWED};

use crate::app::App;
use front::{ForwardedUrl, Request};
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Version};
use std::fmt::Write;
use telemetry::Millis;

const X_FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");
const X_FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");
const X_FORWARDED_HOST: HeaderName = HeaderName::from_static("x-forwarded-host");
const X_REAL_IP: HeaderName = HeaderName::from_static("x-real-ip");
const X_REQUEST_START: HeaderName = HeaderName::from_static("x-request-start");

/// Makes the headers for a backend. `upgrade`: the protocol to which the client wishes to change.
pub(super) fn of(app: &App, request: &Request, now: Millis, upgrade: Option<&HeaderValue>) -> HeaderMap {
    let forwarded = app.proxies.forwarded_url(request.peer, &request.headers);
    let started = forwarded.is_some().then(|| request.headers.get_all(X_REQUEST_START).iter().next_back()).flatten();
    let started = started.filter(|_| app.proxies.queued(request.peer, &request.headers, now) > 0).cloned();
    let trailers = takes_trailers(&request.headers);
    let mut headers = request.headers.clone();
    remove_connection(&mut headers);
    let ours = |name: &str| OF_PROXIES.contains(&name) || ["expect", "host", "content-length"].contains(&name);
    remove_where(&mut headers, |name, _| ours(name));
    remove_shadows(&mut headers);
    let host = host(request);
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

/// Removes the fields of one connection: those of the list, and the ones that `Connection` names.
pub(super) fn remove_connection(headers: &mut HeaderMap) {
    let listed: Vec<String> = tokens(headers, &header::CONNECTION).collect();
    for name in listed {
        // Without these a request would mean something else (RFC 9110, 7.6.1: a sender must not list them).
        if !["host", "cache-control", "content-length", "content-type"].contains(&name.as_str()) {
            headers.remove(name);
        }
    }
    remove_where(headers, |name, _| OF_CONNECTION.contains(&name) || name.starts_with("proxy-"));
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
        [OF_CONNECTION, OF_PROXIES, NO_TRAILERS].iter().any(|list| list.contains(&name))
            || name.contains('_')
            || ["if-", "proxy-", "content-", "x-forwarded"].iter().any(|prefix| name.starts_with(prefix))
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

/// Removes names with `_` that CGI, WSGI and Rack would merge with another header: both become one variable.
fn remove_shadows(headers: &mut HeaderMap) {
    remove_where(headers, |name, headers| {
        name.contains('_') && {
            let meant = name.replace('_', "-");
            let known = [OF_CONNECTION, OF_PROXIES, SHADOWED].iter().any(|list| list.contains(&meant.as_str()));
            known || meant.starts_with("proxy-") || headers.contains_key(meant)
        }
    });
}

/// The host as the client sent it.
fn host(request: &Request) -> Option<HeaderValue> {
    let host = request.host().filter(|host| !host.is_empty())?;
    HeaderValue::from_str(host).ok()
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
    let mut client = request.client.to_string();
    set(X_REAL_IP, text(&client));
    if request.peer != request.client {
        let _ = write!(client, ", {}", request.peer);
    }
    set(X_FORWARDED_FOR, text(&client));
    let here = if request.tls { "https" } else { "http" };
    let named = forwarded
        .scheme
        .as_deref()
        .and_then(|scheme| ["http", "https"].into_iter().find(|known| scheme.eq_ignore_ascii_case(known)));
    set(X_FORWARDED_PROTO, text(named.unwrap_or(here)));
    set(X_FORWARDED_HOST, forwarded.host.as_deref().and_then(text).or_else(|| host.cloned()));
    // In milliseconds, as Heroku's router and thruster send it.
    set(X_REQUEST_START, started.or_else(|| text(&format!("t={}", now.0))));
}

#[cfg(test)]
mod tests;
