//! Which addresses may be called, against server-side request forgery. Some addresses answer only this machine or this network.
//! An operator chooses the host of an upstream once; a DNS attacker must not be able to move its name into a more private
//! network later. The target of a redirect is chosen by the server that redirects.

use crate::error::Error;
use crate::target::Origin;
use crate::zone::Zone;
use std::net::{IpAddr, Ipv4Addr};

/// The networks in which upstreams may be, besides the public one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Networks {
    /// Private networks, and this machine.
    pub private: bool,
    /// The local link, where clouds give machines their credentials.
    pub link_local: bool,
}

impl Default for Networks {
    fn default() -> Self {
        Self { private: true, link_local: false }
    }
}

/// Which addresses a call may reach.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AddressPolicy {
    /// Any: the user of the command line chose the host, or the operator that of object storage.
    Anywhere,
    /// For an upstream or a proxy that an operator named: never a more private zone than the one it first resolved to.
    Named { networks: Networks, pinned: Option<Zone> },
    /// For the target of a redirect: never a more private zone than that of the server that redirects.
    Redirected(Zone),
}

impl Networks {
    pub(crate) fn allow(self, zone: Zone) -> bool {
        match zone {
            Zone::LinkLocal => self.link_local,
            Zone::Loopback | Zone::Private => self.private,
            Zone::Public => true,
        }
    }
}

impl AddressPolicy {
    /// For the target of a redirect of the server at `peer`. Behind a proxy the address is unknown and counts as
    /// public.
    pub(crate) fn beyond(peer: Option<IpAddr>, networks: Networks) -> Self {
        // A server on the link may redirect to this machine, as a server on this machine may.
        let zone = peer.map_or(Zone::Public, |peer| Zone::of(peer).max(Zone::Loopback));
        AddressPolicy::Redirected(if networks.private { zone } else { Zone::Public })
    }

    /// Like `self`, for an upstream that first resolved to this zone.
    pub(crate) fn pinned(self, zone: Zone) -> Self {
        match self {
            AddressPolicy::Named { networks, .. } => AddressPolicy::Named { networks, pinned: Some(zone) },
            other => other,
        }
    }

    pub(crate) fn holds(self, address: IpAddr) -> bool {
        self.holds_zone(Zone::of(address))
    }

    fn holds_zone(self, zone: Zone) -> bool {
        match self {
            AddressPolicy::Anywhere => true,
            AddressPolicy::Named { networks, pinned } => {
                networks.allow(zone) && pinned.is_none_or(|pinned| zone >= pinned)
            }
            AddressPolicy::Redirected(from) => zone >= from,
        }
    }

    /// Whether a host may be called, as far as its name alone shows its zone.
    pub(crate) fn check_name(self, origin: &Origin) -> Result<(), Error> {
        let name = origin.name.trim_end_matches('.');
        let local = name == "localhost" || name.ends_with(".localhost");
        let address = if local { Some(Ipv4Addr::LOCALHOST.into()) } else { literal(name) };
        match address.map(Zone::of).filter(|zone| !self.holds_zone(*zone)) {
            Some(zone) => Err(self.refusal(origin, zone)),
            None => Ok(()),
        }
    }

    /// The error for a host in this zone.
    pub(crate) fn refusal(self, origin: &Origin, zone: Zone) -> Error {
        let host = origin.to_string();
        match self {
            AddressPolicy::Named { networks, pinned: Some(pinned) } if networks.allow(zone) => {
                Error::MovedInside { host, zone, pinned }
            }
            AddressPolicy::Named { .. } => Error::NetworkNotAllowed { host, zone },
            AddressPolicy::Anywhere | AddressPolicy::Redirected(_) => Error::OutOfReach { host },
        }
    }
}

/// The address that a name stands for, if it is one. Resolvers also read `0x7f.1` and `2130706433` (inet_aton(3)).
fn literal(name: &str) -> Option<IpAddr> {
    if let Ok(address) = name.parse() {
        return Some(address);
    }
    let part = |text: &str| match text.strip_prefix("0x") {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    };
    let parts: Vec<u32> = name.split('.').map(part).collect::<Option<_>>()?;
    let (last, first) = parts.split_last()?;
    if first.len() > 3 || first.iter().any(|byte| *byte > 255) {
        return None;
    }
    let high = first.iter().enumerate().map(|(at, byte)| byte << (24 - 8 * at)).sum::<u32>();
    high.checked_add(*last).map(|bits| Ipv4Addr::from_bits(bits).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn beyond(peer: Option<&str>) -> AddressPolicy {
        AddressPolicy::beyond(peer.map(ip), Networks::default())
    }

    #[test]
    fn a_redirect_leads_no_further_in_than_who_redirects_is() {
        for (from, to, followed) in [
            ("192.0.2.1", "198.51.100.1", true),
            ("192.0.2.1", "2001:db8::1", true),
            ("192.0.2.1", "10.0.0.1", false),
            ("192.0.2.1", "172.31.0.1", false),
            ("192.0.2.1", "::ffff:192.168.0.1", false),
            ("192.0.2.1", "100.64.0.1", false),
            ("192.0.2.1", "fd12::1", false),
            ("192.0.2.1", "127.0.0.1", false),
            ("192.0.2.1", "::ffff:127.0.0.1", false),
            ("192.0.2.1", "0.0.0.0", false),
            ("192.0.2.1", "::1", false),
            ("192.0.2.1", "64:ff9b::7f00:1", false),
            ("192.0.2.1", "2002:a00:1::1", false),
            ("192.0.2.1", "::10.0.0.1", false),
            ("10.0.0.1", "10.9.0.1", true),
            ("10.0.0.1", "192.0.2.1", true),
            ("10.0.0.1", "127.0.0.1", false),
            ("127.0.0.1", "127.0.0.2", true),
            ("127.0.0.1", "10.0.0.1", true),
            ("::1", "127.0.0.2", true),
            ("169.254.1.1", "127.0.0.1", true),
        ] {
            assert_eq!(beyond(Some(from)).holds(ip(to)), followed, "{from} {to}");
        }
        assert!(!beyond(None).holds(ip("10.0.0.1")) && AddressPolicy::Anywhere.holds(ip("169.254.169.254")));
        let public = Networks { private: false, link_local: true };
        assert!(!AddressPolicy::beyond(Some(ip("10.0.0.1")), public).holds(ip("10.0.0.2")));
    }

    #[test]
    fn no_redirect_leads_to_where_clouds_tell_secrets() {
        for cloud in ["169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200", "64:ff9b::a9fe:a9fe"] {
            for from in ["192.0.2.1", "10.0.0.1", "127.0.0.1", "169.254.1.1"] {
                assert!(!beyond(Some(from)).holds(ip(cloud)), "{from} {cloud}");
            }
        }
    }

    #[test]
    fn an_upstream_is_where_it_was_first_found_or_further_out() {
        let named = |networks, pinned| AddressPolicy::Named { networks, pinned };
        let all = ["169.254.169.254", "127.0.0.1", "10.0.0.1", "192.0.2.1"];
        let held = |reach: AddressPolicy| all.map(|address| reach.holds(ip(address)));
        let set = Networks::default();
        assert_eq!(held(named(set, None)), [false, true, true, true]);
        assert_eq!(held(named(set, Some(Zone::Loopback))), [false, true, true, true]);
        assert_eq!(held(named(set, Some(Zone::Private))), [false, false, true, true]);
        assert_eq!(held(named(set, Some(Zone::Public))), [false, false, false, true]);
        assert_eq!(held(named(Networks { private: true, link_local: true }, None)), [true; 4]);
        assert_eq!(held(named(Networks { private: false, link_local: true }, None)), [true, false, false, true]);
        assert_eq!(held(named(Networks { private: false, link_local: false }, None)), [false, false, false, true]);
    }

    #[test]
    fn a_proxy_is_sent_to_no_address_that_is_further_in() {
        let holds = |name: &str| {
            let origin = Origin { tls: false, name: name.to_owned(), port: 80 };
            beyond(None).check_name(&origin).is_ok()
        };
        for name in ["files.test", "192.0.2.1", "2001:db8::1", "1.2.3.4.5", "3.test"] {
            assert!(holds(name), "{name}");
        }
        for name in
            ["localhost", "a.localhost.", "127.1", "0x7f.1", "2130706433", "017700000001", "169.254.169.254", "::1"]
        {
            assert!(!holds(name), "{name}");
        }
    }
}
