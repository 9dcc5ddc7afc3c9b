//! Who a client is when a server stands between: only those proxies that are listed are believed, and only in the one
//! way that is chosen. What anybody else claims is ignored, and so is what a proxy passes on without looking.

use super::forwarded;
use super::network::Network;
use http::HeaderMap;
use std::net::IpAddr;

/// How a proxy says who its client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ClientFrom {
    /// Not at all: the client is who is at the other end of the connection.
    #[default]
    Connection,
    /// By the PROXY protocol, version 1 or 2, before anything else on each connection.
    ProxyProtocol,
    /// By `X-Forwarded-For` in each request.
    XForwardedFor,
    /// By `Forwarded` (RFC 7239) in each request.
    Forwarded,
}

impl ClientFrom {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Connection, Self::ProxyProtocol, Self::XForwardedFor, Self::Forwarded];

    /// The word in the configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::ProxyProtocol => "proxy-protocol",
            Self::XForwardedFor => "x-forwarded-for",
            Self::Forwarded => "forwarded",
        }
    }
}

/// Which proxies are believed, and in which way.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    /// Where they are.
    pub trusted: Vec<Network>,
    /// How they say who their client is.
    pub client_from: ClientFrom,
}

impl Proxies {
    /// Whether `address` is believed. A trusted proxy may have as many connections open as it likes.
    pub(crate) fn trust(&self, address: IpAddr) -> bool {
        self.client_from != ClientFrom::Connection && self.trusted.iter().any(|network| network.contains(address))
    }

    /// Whether a connection from `peer` begins with a header of the PROXY protocol.
    pub(crate) fn announces(&self, peer: IpAddr) -> bool {
        self.client_from == ClientFrom::ProxyProtocol && self.trust(peer)
    }

    /// Who asks in a request that `peer` sent: the last of those it names who is not a trusted proxy. `None` where that
    /// is the peer itself.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Option<IpAddr> {
        let chain = match self.client_from {
            ClientFrom::XForwardedFor if self.trust(peer) => forwarded::x_forwarded_for(headers),
            ClientFrom::Forwarded if self.trust(peer) => forwarded::forwarded(headers),
            _ => return None,
        };
        let mut client = None;
        // From the nearest to the farthest. What is before somebody we do not trust, that one may have invented.
        for hop in chain.into_iter().rev() {
            // A name we cannot read, or none: whoever passed it on is the last that is known.
            let Some(address) = hop else { break };
            client = Some(address);
            if !self.trust(address) {
                break;
            }
        }
        client
    }
}

#[cfg(test)]
mod tests;
