//! The names of headers that do not go on to an application as a client sent them, in lower case.

/// Headers of one connection (RFC 9110, 7.6.1), also by the conventions of older software. `Proxy` becomes the variable `HTTP_PROXY` of
/// CGI programs, which some libraries take for their proxy.
pub(super) const OF_CONNECTION: &[&str] =
    &["connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "proxy"];

/// Headers in which a client could forge the URL, the address or the file access of a request. A trusted proxy's own are read before.
pub(super) const OF_PROXIES: &[&str] = &[
    "client-ip",
    "forwarded",
    "front-end-https",
    "http2-settings",
    "true-client-ip",
    "x-accel-mapping",
    "x-client-ip",
    "x-cluster-client-ip",
    "x-forwarded",
    "x-forwarded-by",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-port",
    "x-forwarded-prefix",
    "x-forwarded-proto",
    "x-forwarded-protocol",
    "x-forwarded-scheme",
    "x-forwarded-server",
    "x-forwarded-ssl",
    "x-forwarded-uri",
    "x-host",
    "x-http-host-override",
    "x-original-host",
    "x-original-uri",
    "x-original-url",
    "x-queue-start",
    "x-real-ip",
    "x-request-start",
    "x-rewrite-url",
    "x-sendfile-type",
    "x-url-scheme",
];

/// Headers for routing, control and authentication, beside those above.
pub(super) const NO_TRAILERS: &[&str] = &[
    "authorization",
    "cache-control",
    "cookie",
    "expect",
    "host",
    "max-forwards",
    "origin",
    "pragma",
    "range",
    "set-cookie",
    "x-csrf-token",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
    "x-requested-with",
];

/// Names that no other header may shadow by a `_`, beside those above.
pub(super) const SHADOWED: &[&str] = &["host", "content-length", "content-type", "expect", "cookie", "authorization"];
