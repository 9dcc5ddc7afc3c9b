//! The form in which addresses of clients are recorded. Limits and access control always use the whole address.

use crate::Text;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The part of an IPv4 address that a truncated address keeps: a network of 24 bits.
const IPV4: u32 = u32::MAX << 8;
/// The part of an IPv6 address that a truncated address keeps: a network of 48 bits.
const IPV6: u128 = u128::MAX << 80;

crate::closed_list! {
    /// The form in which addresses of clients are recorded: in events, logs and the journal.
    #[derive(Default)]
    pub enum ClientAddresses {
        /// The whole address.
        #[default]
        Full = "full",
        /// The network of the address: 24 bits of IPv4, 48 bits of IPv6.
        Truncated = "truncated",
        /// No address.
        Off = "off",
    }
}

impl ClientAddresses {
    /// The part of an address that is recorded.
    pub fn recorded(self, address: IpAddr) -> Option<IpAddr> {
        match (self, address.to_canonical()) {
            (ClientAddresses::Full, address) => Some(address),
            (ClientAddresses::Truncated, IpAddr::V4(address)) => {
                Some(Ipv4Addr::from_bits(address.to_bits() & IPV4).into())
            }
            (ClientAddresses::Truncated, IpAddr::V6(address)) => {
                Some(Ipv6Addr::from_bits(address.to_bits() & IPV6).into())
            }
            (ClientAddresses::Off, _) => None,
        }
    }

    /// The recorded form of an address as text. Empty: no address is recorded.
    pub fn text(self, address: IpAddr) -> Text {
        self.recorded(address).map(|address| address.to_string().into()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_recorded_whole_or_as_its_network_or_not_at_all() {
        for (address, full, network) in [
            ("192.0.2.77", "192.0.2.77", "192.0.2.0"),
            ("::ffff:192.0.2.77", "192.0.2.77", "192.0.2.0"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2:3:4:5:6", "2001:db8:1::"),
            ("::1", "::1", "::"),
        ] {
            let shown = |form: ClientAddresses| form.text(address.parse().unwrap()).to_string();
            assert_eq!(shown(ClientAddresses::Full), full);
            assert_eq!(shown(ClientAddresses::Truncated), network);
            assert_eq!(shown(ClientAddresses::Off), "");
        }
    }
}
