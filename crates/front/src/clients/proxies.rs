//! Finds the real client behind proxies. Only listed proxies are trusted, and only in the one way that is configured.
//! Claims of other addresses are ignored, and so are names that a trusted proxy forwards without checking them.

use super::forwarded::{self, Chain};
use super::forwarded_url::{self, ForwardedUrl};
use super::network::Network;
use super::request_start;
use http::HeaderMap;
use std::net::IpAddr;
use telemetry::Millis;

telemetry::closed_list! {
    /// How a proxy names its client.
    #[derive(Default)]
    pub enum ClientFrom {
        /// The client is the peer of the connection.
        #[default]
        Connection = "connection",
        /// With the PROXY protocol, version 1 or 2, at the start of each connection.
        ProxyProtocol = "proxy-protocol",
        /// With `X-Forwarded-For` in each request.
        XForwardedFor = "x-forwarded-for",
        /// With `Forwarded` (RFC 7239) in each request.
        Forwarded = "forwarded",
    }
}

/// Which proxies are trusted, and how they name their client.
#[derive(Debug, Clone, Default)]
pub struct Proxies {
    /// Their addresses.
    pub trusted: Vec<Network>,
    /// How they name their client.
    pub client_from: ClientFrom,
}

impl Proxies {
    /// Whether `address` is a trusted proxy. A trusted proxy may open any number of connections.
    pub(crate) fn trust(&self, address: IpAddr) -> bool {
        self.client_from != ClientFrom::Connection && self.trusted.iter().any(|network| network.contains(address))
    }

    /// Whether a connection from `peer` begins with a PROXY header.
    pub fn announces(&self, peer: IpAddr) -> bool {
        self.client_from == ClientFrom::ProxyProtocol && self.trust(peer)
    }

    /// The client of a request that `peer` sent: the last address in its headers that is not a trusted proxy. `None`
    /// where that is the peer itself.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Option<IpAddr> {
        let chain = match self.client_from {
            ClientFrom::XForwardedFor if self.trust(peer) => forwarded::x_forwarded_for(headers),
            ClientFrom::Forwarded if self.trust(peer) => forwarded::forwarded(headers),
            _ => return None,
        };
        let mut client = None;
        // From the nearest to the farthest. An untrusted hop may have invented the hops beyond it.
        for hop in chain.into_iter().rev() {
            // The hop has no readable name, so the hop that passed it on is the last known one.
            let Some(address) = hop else { break };
            client = Some(address);
            if !self.trust(address) {
                break;
            }
        }
        client
    }

    /// How long a request that arrived from `peer` at `now` had waited since a proxy got it, in nanoseconds. 0: it is not known. Only a
    /// proxy that sets headers tells; with the PROXY protocol the headers are those of the client.
    pub fn queued(&self, peer: IpAddr, headers: &HeaderMap, now: Millis) -> u64 {
        match self.client_from {
            ClientFrom::XForwardedFor | ClientFrom::Forwarded if self.trust(peer) => {
                request_start::queued(headers, now)
            }
            _ => 0,
        }
    }

    /// The URL that the client used, from the headers of trusted proxies. `None`: `peer` is not a proxy that sends it.
    pub fn forwarded_url(&self, peer: IpAddr, headers: &HeaderMap) -> Option<ForwardedUrl> {
        match self.client_from {
            ClientFrom::XForwardedFor if self.trust(peer) => {
                let nearer = self.nearer(&forwarded::x_forwarded_for(headers));
                Some(forwarded_url::x_forwarded(headers, nearer))
            }
            ClientFrom::Forwarded if self.trust(peer) => {
                let nearer = self.nearer(&forwarded::forwarded(headers));
                Some(forwarded_url::forwarded(headers, nearer))
            }
            _ => None,
        }
    }

    /// The number of trusted proxies between the first one and this server.
    fn nearer(&self, chain: &Chain) -> usize {
        let trusted = chain.iter().rev().take_while(|hop| hop.is_some_and(|address| self.trust(address))).count();
        // The farthest is the client.
        trusted.min(chain.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests;
