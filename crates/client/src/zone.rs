//! How private the network of an address is: the local link, this machine, a private network, or the public one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

telemetry::closed_list! {
    /// How private the network of an address is, from the most private to the public one. A server in one zone may redirect to the
    /// same zone and to less private ones.
    #[derive(PartialOrd, Ord)]
    pub enum Zone {
        /// The local link, where clouds give machines their credentials.
        LinkLocal = "link-local",
        /// The ports of this machine.
        Loopback = "loopback",
        /// A private network (RFC 1918, RFC 4193), or behind the address of a carrier (RFC 6598).
        Private = "private",
        /// The public network.
        Public = "public",
    }
}

/// Addresses outside the link at which clouds give machines their credentials: Amazon's over IPv6, Alibaba's,
/// Azure's, Oracle's.
const CLOUDS: [IpAddr; 4] = [
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
];

impl Zone {
    /// The zone with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|zone| zone.as_str() == name)
    }

    /// The zone of an address. An IPv6 address that stands for an IPv4 address is in the zone of that one, whether or not it
    /// would be translated here.
    pub fn of(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(v4) => of_v4(v4),
            IpAddr::V6(v6) => embedded(v6).into_iter().flatten().map(of_v4).fold(of_v6(v6), Zone::min),
        }
    }
}

fn of_v4(address: Ipv4Addr) -> Zone {
    let [one, two, three, _] = address.octets();
    // Behind the address of a carrier (RFC 6598), for protocols (RFC 6890), and for tests between networks (RFC
    // 2544).
    let shared = (one == 100 && two & 0xc0 == 64) || (one, two, three) == (192, 0, 0);
    let tests = one == 198 && two & 0xfe == 18;
    match () {
        () if address.is_link_local() || CLOUDS.contains(&address.into()) => Zone::LinkLocal,
        // All of 0.0.0.0/8 is this network (RFC 1122 3.2.1.3); Linux connects to this machine for 0.0.0.0.
        () if address.is_loopback() || one == 0 => Zone::Loopback,
        () if address.is_private() || shared || tests => Zone::Private,
        () => Zone::Public,
    }
}

fn of_v6(address: Ipv6Addr) -> Zone {
    let segments = address.segments();
    // Site-local addresses, which fc00::/7 replaced (RFC 3879), and the prefix of local NAT64 (RFC 8215).
    let site = segments[0] & 0xffc0 == 0xfec0 || segments[..3] == [0x64, 0xff9b, 1];
    match () {
        () if address.is_unicast_link_local() || CLOUDS.contains(&address.into()) => Zone::LinkLocal,
        () if address.is_loopback() || address.is_unspecified() => Zone::Loopback,
        () if address.is_unique_local() || site => Zone::Private,
        () => Zone::Public,
    }
}

/// The IPv4 addresses that an IPv6 address may embed. The prefix of local NAT64 may have any length of RFC 6052 2.2, so the
/// address may be in several places.
fn embedded(address: Ipv6Addr) -> [Option<Ipv4Addr>; 4] {
    let s = address.segments();
    let v4 = |high: u16, low: u16| Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)));
    // Bits 64 to 71 are not part of it (RFC 6052 2.2).
    let bytes = address.octets();
    let at = |places: [usize; 4]| Some(Ipv4Addr::from(places.map(|place| bytes[place])));
    match s {
        // The loopback and the unspecified address embed none.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => [None; 4],
        // IPv4-compatible (RFC 4291 2.5.5.1), IPv4-translated (RFC 2765 2.1), NAT64 (RFC 6052 2.1).
        [0, 0, 0, 0, 0, 0, high, low] | [0, 0, 0, 0, 0xffff, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            [v4(high, low), None, None, None]
        }
        // Local NAT64 (RFC 8215).
        [0x64, 0xff9b, 1, .., high, low] => [v4(high, low), at([6, 7, 9, 10]), at([7, 9, 10, 11]), at([9, 10, 11, 12])],
        // 6to4 (RFC 3056).
        [0x2002, high, low, ..] => [v4(high, low), None, None, None],
        // Teredo (RFC 4380 4): its server, and its client with all bits inverted.
        [0x2001, 0, high, low, _, _, client_high, client_low] => {
            [v4(high, low), v4(!client_high, !client_low), None, None]
        }
        // ISATAP (RFC 5214 6.1), below any prefix.
        [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => [v4(high, low), None, None, None],
        _ => [None; 4],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_stands_for_another_is_as_far_in_as_that() {
        let inner = [
            ("169.254.169.254", Zone::LinkLocal),
            ("127.0.0.1", Zone::Loopback),
            ("10.0.0.1", Zone::Private),
            ("198.51.100.1", Zone::Public),
        ];
        for (v4, zone) in inner {
            let [a, b, c, d] = v4.parse::<Ipv4Addr>().unwrap().octets();
            let (high, low) = (u16::from(a) << 8 | u16::from(b), u16::from(c) << 8 | u16::from(d));
            let (not_high, not_low) = (!high, !low);
            for text in [
                v4.to_owned(),
                format!("::ffff:{v4}"),
                format!("::{v4}"),
                format!("::ffff:0:{v4}"),
                format!("64:ff9b::{v4}"),
                format!("2002:{high:x}:{low:x}::1"),
                format!("2001:0:c633:6401::{not_high:x}:{not_low:x}"),
                format!("2001:0:{high:x}:{low:x}::39cc:9bfe"),
                format!("2001:db8::200:5efe:{v4}"),
                format!("2001:db8::5efe:{v4}"),
            ] {
                assert_eq!(Zone::of(text.parse().unwrap()), zone, "{text}");
            }
            // Local NAT64, with the address behind a prefix of 96, 48, 56 and 64 bits. Such a network is always
            // private.
            let local = zone.min(Zone::Private);
            for text in [
                format!("64:ff9b:1:c633:64:c633:{high:x}:{low:x}"),
                format!("64:ff9b:1:{high:x}:{:x}:{:x}00:c633:6401", low >> 8, low & 0xff),
                format!("64:ff9b:1:c6{a:02x}:{b:x}:{c:02x}{d:02x}:c633:6401"),
                format!("64:ff9b:1:c633:{a:x}:{b:02x}{c:02x}:{d:02x}33:6401"),
            ] {
                let found = Zone::of(text.parse().unwrap());
                assert!(found <= local, "{text}: {found:?}");
            }
        }
    }

    #[test]
    fn where_clouds_tell_machines_secrets_is_on_the_link() {
        for cloud in ["169.254.169.254", "fe80::1", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192"]
        {
            assert_eq!(Zone::of(cloud.parse().unwrap()), Zone::LinkLocal, "{cloud}");
        }
        for zone in Zone::ALL.iter().copied() {
            assert_eq!(Zone::named(zone.as_str()), Some(zone));
        }
        for (address, zone) in
            [("::1", Zone::Loopback), ("::", Zone::Loopback), ("fd12::1", Zone::Private), ("2001:db8::1", Zone::Public)]
        {
            assert_eq!(Zone::of(address.parse().unwrap()), zone, "{address}");
        }
    }
}
