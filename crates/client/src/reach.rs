//! Which addresses a redirect may lead to: it is somebody else's choice, and there are places that answer this machine, or
//! this network, and nobody else.

use crate::target::Origin;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Which addresses may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Whoever set the upstream chose where it is.
    Anywhere,
    /// Where a server redirects to that is there: it leads no further in than it is itself.
    From(Zone),
}

/// How far inside an address is. Each may lead to those behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Zone {
    /// The link, and where clouds tell machines their credentials. Nothing leads there.
    Link,
    /// This machine's own ports.
    Machine,
    /// A network that is somebody's own.
    Inside,
    /// Where everybody is.
    Outside,
}

/// Addresses at which clouds answer their machines that are not on the link: Amazon's by IPv6, Alibaba's, Azure's, Oracle's.
const CLOUDS: [IpAddr; 4] = [
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
];

impl Reach {
    /// For where a server at `peer` redirects to. Behind a proxy nobody knows where it is: then it counts as outside.
    pub(crate) fn beyond(peer: Option<IpAddr>) -> Self {
        // Who is on the link leads as far as this machine, as who is on it does.
        Reach::From(peer.map_or(Zone::Outside, |peer| Zone::of(peer).max(Zone::Machine)))
    }

    pub(crate) fn holds(self, address: IpAddr) -> bool {
        match self {
            Reach::Anywhere => true,
            Reach::From(zone) => Zone::of(address) >= zone,
        }
    }

    /// The same for a host that is not looked up here, but by a proxy: as far as its name tells where it is.
    pub(crate) fn holds_name(self, origin: &Origin) -> bool {
        let name = origin.name.trim_end_matches('.');
        let local = name == "localhost" || name.ends_with(".localhost");
        let address = if local { Some(Ipv4Addr::LOCALHOST.into()) } else { literal(name) };
        address.is_none_or(|address| self.holds(address))
    }
}

/// The address that a name is, where it is one. Resolvers also read `0x7f.1` and `2130706433` (inet_aton(3)).
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

impl Zone {
    pub(crate) fn of(address: IpAddr) -> Self {
        let address = carried(address.to_canonical());
        if CLOUDS.contains(&address) {
            return Zone::Link;
        }
        let (link, machine, inside) = match address {
            IpAddr::V4(v4) => {
                let [one, two, three, _] = v4.octets();
                // Behind the address of a carrier (RFC 6598), of protocols (RFC 6890), of tests between networks (RFC 2544).
                let shared = (one == 100 && two & 0xc0 == 64) || (one, two, three) == (192, 0, 0);
                let tests = one == 198 && two & 0xfe == 18;
                // All of 0.0.0.0/8 is this network (RFC 1122 3.2.1.3); Linux takes 0.0.0.0 for this machine.
                (v4.is_link_local(), v4.is_loopback() || one == 0, v4.is_private() || shared || tests)
            }
            IpAddr::V6(v6) => {
                // Site-local, from before fc00::/7 was for that (RFC 3879).
                let site = v6.segments()[0] & 0xffc0 == 0xfec0;
                (v6.is_unicast_link_local(), v6.is_loopback() || v6.is_unspecified(), v6.is_unique_local() || site)
            }
        };
        match (link, machine, inside) {
            (true, ..) => Zone::Link,
            (_, true, _) => Zone::Machine,
            (_, _, true) => Zone::Inside,
            _ => Zone::Outside,
        }
    }
}

/// The IPv4 address that an IPv6 address stands for, where a gateway carries it there: NAT64 (RFC 6052), 6to4 (RFC 3056).
fn carried(address: IpAddr) -> IpAddr {
    let IpAddr::V6(v6) = address else { return address };
    let of = |high: u16, low: u16| IpAddr::V4(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    match v6.segments() {
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => of(high, low),
        [0x2002, high, low, ..] => of(high, low),
        _ => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
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
            ("10.0.0.1", "10.9.0.1", true),
            ("10.0.0.1", "192.0.2.1", true),
            ("10.0.0.1", "127.0.0.1", false),
            ("127.0.0.1", "127.0.0.2", true),
            ("127.0.0.1", "10.0.0.1", true),
            ("::1", "127.0.0.2", true),
            ("169.254.1.1", "127.0.0.1", true),
        ] {
            assert_eq!(Reach::beyond(Some(ip(from))).holds(ip(to)), followed, "{from} {to}");
        }
        assert!(!Reach::beyond(None).holds(ip("10.0.0.1")) && Reach::Anywhere.holds(ip("169.254.169.254")));
    }

    #[test]
    fn nothing_leads_to_where_clouds_tell_secrets() {
        for cloud in ["169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"]
        {
            for from in ["192.0.2.1", "10.0.0.1", "127.0.0.1", "169.254.1.1"] {
                assert!(!Reach::beyond(Some(ip(from))).holds(ip(cloud)), "{from} {cloud}");
            }
        }
        assert!(!Reach::beyond(Some(ip("127.0.0.1"))).holds(ip("64:ff9b::a9fe:a9fe")));
    }

    #[test]
    fn a_proxy_is_sent_to_no_address_that_is_further_in() {
        let holds =
            |name: &str| Reach::beyond(None).holds_name(&Origin { tls: false, name: name.to_owned(), port: 80 });
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
