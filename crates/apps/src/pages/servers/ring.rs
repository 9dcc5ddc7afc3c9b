//! The server of a key, as Dalli 3 to 5 chooses it (`ring.rb` of 3.0.6): the application writes with that client.

use sha1::{Digest, Sha1};

/// Points of a server whose weight is the mean.
const POINTS: u64 = 160;
/// How often another server is tried, if the one of the key is down.
const TRIES: u32 = 20;

/// A ring of servers.
#[derive(Debug)]
pub(super) struct Ring {
    /// Points with their servers, by the points. Empty: there is only one server.
    points: Vec<(u32, u8)>,
}

impl Ring {
    /// The ring of servers, each with its name (`HOST:PORT`) and its weight. At most 256.
    pub(super) fn new(servers: &[(&str, u32)]) -> Self {
        if servers.len() < 2 {
            return Self { points: Vec::new() };
        }
        let sum: u64 = servers.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut points = Vec::new();
        for (server, (name, weight)) in (0..=u8::MAX).zip(servers) {
            let count = servers.len() as u64 * POINTS * u64::from(*weight) / sum.max(1);
            for point in 0..count {
                let [a, b, c, d, ..] = Sha1::digest(format!("{name}:{point}")).0;
                points.push((u32::from_be_bytes([a, b, c, d]), server));
            }
        }
        points.sort_by_key(|(point, _)| *point);
        Self { points }
    }

    /// The server of a key, among the usable ones. A server that cannot be used is replaced as Dalli does, by a key with the number of the
    /// try before it.
    pub(super) fn server(&self, key: &[u8], mut is_usable: impl FnMut(usize) -> bool) -> Option<usize> {
        if self.points.is_empty() {
            return is_usable(0).then_some(0);
        }
        let mut hash = crc32fast::hash(key);
        for attempt in 0..TRIES {
            let server = self.at(hash);
            if is_usable(server) {
                return Some(server);
            }
            let mut next = crc32fast::Hasher::new();
            next.update(attempt.to_string().as_bytes());
            next.update(key);
            hash = next.finalize();
        }
        None
    }

    /// The server of the greatest point that is not above the hash; below the first point, that of the last.
    fn at(&self, hash: u32) -> usize {
        let above = self.points.partition_point(|(point, _)| *point <= hash);
        let at = above.checked_sub(1).unwrap_or_else(|| self.points.len().saturating_sub(1));
        self.points.get(at).map_or(0, |(_, server)| usize::from(*server))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by `ring/table.rb` with ruby-dalli 3.0.6.
    const TABLE: &str = include_str!("ring/table.txt");

    fn keys() -> Vec<String> {
        let of_pages = (0..400).map(|at: u128| format!("hc1:{:032x}", at * 2_654_435_761));
        let with_namespaces = (0..100).map(|at| format!("ns{}:cacheable:{at}", at % 7));
        let odd = ["a".to_owned(), "é".to_owned(), "x".repeat(250)];
        of_pages.chain(with_namespaces).chain(odd).collect()
    }

    #[test]
    fn each_key_has_the_server_that_dalli_gives_it_also_if_servers_are_down() {
        let mut rings = 0;
        for line in TABLE.lines().skip(1) {
            let [servers, down, expected] = line.split('|').collect::<Vec<_>>()[..] else { panic!("{line}") };
            let servers = servers.split(' ').map(|server| server.split_once('*').unwrap());
            let servers: Vec<(&str, u32)> = servers.map(|(name, weight)| (name, weight.parse().unwrap())).collect();
            let down: Vec<usize> = down.split_whitespace().map(|at| at.parse().unwrap()).collect();
            let ring = Ring::new(&servers);
            let keys = keys();
            let found = keys.iter().map(|key| ring.server(key.as_bytes(), |server| !down.contains(&server)));
            let found: String =
                found.map(|server| server.map_or_else(|| "-".to_owned(), |at| at.to_string())).collect();
            assert_eq!(found, expected, "{servers:?} without {down:?}");
            rings += 1;
        }
        assert_eq!(rings, 16);
    }

    #[test]
    fn a_server_alone_has_all_keys_as_long_as_it_is_up() {
        let ring = Ring::new(&[("a:1", 5)]);
        assert_eq!((ring.server(b"k", |_| true), ring.server(b"k", |_| false)), (Some(0), None));
    }
}
