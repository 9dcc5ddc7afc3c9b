//! The names of headers that do not go on to an application as a client sent them, in lower case.

/// Whether it is a header of one connection (RFC 9110, 7.6.1), also by the conventions of older software. `Proxy` becomes the variable `HTTP_PROXY` of
/// CGI programs, which some libraries take for their proxy.
pub(super) fn is_of_connection(name: &str) -> bool {
    name.starts_with("proxy-")
        || matches!(name, "connection" | "keep-alive" | "te" | "trailer" | "transfer-encoding" | "upgrade" | "proxy")
}

/// Whether it is a header in which a client could forge the URL, the address or the file access of a request. A trusted proxy's own are read before.
pub(super) fn is_of_proxies(name: &str) -> bool {
    matches!(
        name,
        "client-ip"
            | "forwarded"
            | "front-end-https"
            | "http2-settings"
            | "true-client-ip"
            | "x-accel-mapping"
            | "x-client-ip"
            | "x-cluster-client-ip"
            | "x-forwarded"
            | "x-forwarded-by"
            | "x-forwarded-for"
            | "x-forwarded-host"
            | "x-forwarded-port"
            | "x-forwarded-prefix"
            | "x-forwarded-proto"
            | "x-forwarded-protocol"
            | "x-forwarded-scheme"
            | "x-forwarded-server"
            | "x-forwarded-ssl"
            | "x-forwarded-uri"
            | "x-host"
            | "x-http-host-override"
            | "x-original-host"
            | "x-original-uri"
            | "x-original-url"
            | "x-queue-start"
            | "x-real-ip"
            | "x-request-start"
            | "x-rewrite-url"
            | "x-scheme"
            | "x-script-name"
            | "x-sendfile-type"
            | "x-url-scheme"
    )
}

/// Whether it is a header for routing, control and authentication, beside the names above.
pub(super) fn is_no_trailer(name: &str) -> bool {
    matches!(
        name,
        "authorization"
            | "cache-control"
            | "cookie"
            | "daylight-refill"
            | "expect"
            | "host"
            | "max-forwards"
            | "origin"
            | "pragma"
            | "range"
            | "set-cookie"
            | "x-csrf-token"
            | "x-http-method"
            | "x-http-method-override"
            | "x-method-override"
            | "x-requested-with"
    )
}

/// Whether no other header may shadow it by a `_`, beside the names above.
pub(super) fn is_shadowed(name: &str) -> bool {
    matches!(name, "host" | "content-length" | "content-type" | "expect" | "cookie" | "authorization")
}
