//! The servers of a mixed load, their upstreams, and the clients that ask concurrently.

use super::asker::{AT_ONCE, Asker, jar};
use crate::tls::Certificate;
use crate::world::{FIRST, Gem, Says, Upstream, World};
use serde_json::json;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

const CLIENTS: usize = 4;
/// A file of this size is sent while it arrives.
const GROWING: usize = 400_000;

pub(super) struct Load {
    world: World,
    tls: World,
    certificate: Certificate,
    /// A server that is the upstream of gems.
    gems: World,
    near: Upstream,
    far: Upstream,
    slow: Upstream,
}

impl Load {
    /// For about this number of requests.
    pub(super) fn new(requests: usize) -> Self {
        let certificate = Certificate::new();
        let load = Self {
            world: World::start(),
            tls: World::start_with_file(&certificate.settings()),
            certificate,
            gems: World::start(),
            near: Upstream::start(),
            far: Upstream::start(),
            slow: Upstream::start(),
        };
        let Self { world, gems, near, far, slow, .. } = &load;
        // Their checksum files are missing, and are asked for nevertheless.
        (0..requests.div_ceil(10)).for_each(|number| far.file(&format!("/{}", jar(number)), "a small file"));
        let grows = Says::bytes(vec![7; GROWING]).drips(GROWING / 8, Duration::from_millis(1));
        slow.says_otherwise(grows.clone());
        slow.says("/chunked", grows.chunked());
        [("near", near), ("far", far)].iter().for_each(|(name, upstream)| world.remote(name, &upstream.url()));
        let remote = |url: String| json!({ "urls": [url] });
        world.make(&json!({ "name": "slow", "format": "raw", "kind": "remote", "remote": remote(slow.url()) }));
        world.tree("files", "raw");
        world.tree("ours", "maven");
        world.make(&json!({ "name": "all", "format": "maven", "members": ["ours", "near", "far"] }));
        let gem = json!({ "name": "up", "format": "gem", "kind": "remote", "remote": remote(gems.url(FIRST)) });
        world.make(&gem);
        world.make(&json!({ "name": "all-gems", "format": "gem", "kind": "group", "members": [FIRST, "up"] }));
        let admin = world.admin();
        admin.push(FIRST, &Gem::new("lamp", "1.0.0").payload(&[7; 20_000])).expect(200);
        admin.put("files", "large", &vec![7; 3 << 20]).expect(201);
        (0..9).for_each(|at| drop(gems.admin().push(FIRST, &Gem::new(&format!("oil{at}"), "1.0.0")).expect(200)));
        load
    }

    /// The servers that made events.
    pub(super) fn worlds(&mut self) -> [&mut World; 3] {
        [&mut self.world, &mut self.tls, &mut self.gems]
    }

    /// Sends about this number of requests. Returns the events that the answers named.
    pub(super) fn run(&self, requests: usize) -> Vec<String> {
        let (next, asker) = (AtomicUsize::new(0), Asker::new(&self.world, &self.tls, self.certificate.file()));
        std::thread::scope(|scope| {
            let client = || asker.requests(&next, requests * 8 / 10);
            let clients: Vec<_> = (0..CLIENTS).map(|_| scope.spawn(client)).collect();
            scope.spawn(|| (0..requests / 10).step_by(AT_ONCE).for_each(|from| asker.in_frames(from)));
            scope.spawn(|| (0..requests / 10).step_by(AT_ONCE).for_each(|_| asker.through_tls()));
            clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
        })
    }
}
