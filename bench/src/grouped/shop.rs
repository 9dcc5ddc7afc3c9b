//! A server with a hosted repository, two upstreams and groups of them.

use super::upstream::Upstream;
use crate::corpus;
use crate::gem::Gem;
use crate::http::Connection;
use crate::process::{Server, TOKEN};
use anyhow::{Result, ensure};
use format::gem::info::md5_hex;
use format::gem::upstream::Versions;
use serde_json::{Value, json};
use std::path::Path;

pub(super) const HOSTED: &str = "gems-private";
pub(super) const PUBLIC: &str = "public";
pub(super) const PAID: &str = "paid";
/// The number of gems of the second upstream; some of them are also in the first one.
pub(super) const PAID_GEMS: usize = 5_000;
pub(super) const SHARED: usize = 200;
/// The number of gems of the first upstream that no client downloads.
const SPARE: u8 = 50;
/// The number of gems in the hosted repository.
pub(super) const HOSTED_GEMS: usize = 2_000;

/// The server, and its upstreams.
pub(super) struct Shop {
    pub(super) server: Server,
    public: Upstream,
    paid: Upstream,
    /// The `/versions` of the first upstream.
    pub(super) listed: String,
    /// Minutes since the start.
    minutes: u64,
}

impl Shop {
    /// Starts all servers in this folder. The first upstream also has the files of these gems.
    pub(super) fn open(folder: &Path, kit: &[Gem]) -> Result<Self> {
        let (public, paid) = (Upstream::start()?, Upstream::start()?);
        let mut listed = corpus::listed(corpus::GEMS, corpus::SEED, "");
        let shared = listed.lines().skip(2).step_by(900).take(SHARED).filter_map(|line| line.split(' ').next());
        let shared: String = shared.map(|name| format!("{name} 99.0.0 {}\n", md5_hex(name.as_bytes()))).collect();
        paid.has("versions", (corpus::listed(PAID_GEMS - SHARED, 2, "paid-") + &shared).as_bytes());
        // Gems that are only used for changes: clients request nothing but their lines.
        (0..SPARE).for_each(|number| listed.push_str(&format!("spare-part-{number} 1.0.0 {}\n", md5_hex(&[number]))));
        for gem in kit {
            let bytes = gem.bytes();
            let info = super::kit::info(gem, &bytes);
            listed.push_str(&format!("{} {} {}\n", gem.name, gem.version, md5_hex(info.as_bytes())));
            public.has(&format!("info/{}", gem.name), info.as_bytes());
            public.has(&format!("gems/{}-{}.gem", gem.name, gem.version), &bytes);
        }
        let data = folder.join("data");
        corpus::single(&data, HOSTED_GEMS)?;
        let server = Server::daylight_in_conformance(&data, folder)?;
        let mut shop = Self { server, public, paid, listed, minutes: 0 };
        shop.pass(0)?;
        shop.publish();
        for (name, upstream) in [(PUBLIC, &shop.public), (PAID, &shop.paid)] {
            shop.make(
                &json!({ "name": name, "format": "gem", "kind": "remote", "remote": { "urls": [upstream.url()] } }),
            )?;
        }
        Ok(shop)
    }

    /// Publishes the list of the first upstream.
    pub(super) fn publish(&self) {
        self.public.has("versions", self.listed.as_bytes());
    }

    /// The first upstream gains a version.
    pub(super) fn gain(&mut self, name: &str, version: &str) {
        let md5 = md5_hex(format!("{name} {version}").as_bytes());
        self.listed.push_str(&format!("{name} {version} {md5}\n"));
        self.publish();
    }

    /// The first upstream publishes another version of a gem whose files it has.
    pub(super) fn release(&mut self, gem: &Gem, version: &str) -> Result<()> {
        let (first, mut next) = (gem.bytes(), gem.clone());
        version.clone_into(&mut next.version);
        let (bytes, line) = (next.bytes(), super::kit::info(&next, &next.bytes()));
        let info = super::kit::info(gem, &first) + line.trim_start_matches("---\n");
        self.public.has(&format!("info/{}", gem.name), info.as_bytes());
        self.public.has(&format!("gems/{}-{version}.gem", gem.name), &bytes);
        self.listed.push_str(&format!("{} {version} {}\n", gem.name, md5_hex(info.as_bytes())));
        self.publish();
        self.pass(2)
    }

    /// Rewrites the `/versions` of the first upstream.
    pub(super) fn compact(&mut self) -> Result<()> {
        let mut versions = Versions::new();
        versions.push(self.listed.clone().into())?;
        let sums: String = versions.sums().map(|line| line + "\n").collect();
        self.listed = format!("created_at: 2100-01-02T12:{:02}:00Z\n---\n{sums}", self.minutes % 60);
        self.publish();
        Ok(())
    }

    /// Advances the time of day by this many minutes.
    pub(super) fn pass(&mut self, minutes: u64) -> Result<()> {
        self.minutes += minutes;
        let (days, hours, minutes) = (2 + self.minutes / 1440, self.minutes / 60 % 24, self.minutes % 60);
        // Earlier changes are older: moments of the journal never decrease.
        let moment = format!("2100-01-{days:02}T{hours:02}:{minutes:02}:00Z");
        self.call("POST", &format!("/repository/{HOSTED}/set_time"), "text/plain", moment.as_bytes())
    }

    /// Changes the settings of a repository.
    pub(super) fn set(&self, name: &str, settings: &Value) -> Result<()> {
        let path = format!("/api/v1/repositories/{name}");
        self.call("PATCH", &path, "application/json", settings.to_string().as_bytes())
    }

    /// Creates a group.
    pub(super) fn group(&self, name: &str, members: &[&str], policy: &Value) -> Result<()> {
        self.make(&json!({ "name": name, "format": "gem", "kind": "group", "members": members, "policy": policy }))
    }

    fn make(&self, wanted: &Value) -> Result<()> {
        self.call("POST", "/api/v1/repositories", "application/json", wanted.to_string().as_bytes())
    }

    /// Publishes a gem in the hosted repository.
    pub(super) fn push(&self, bytes: &[u8]) -> Result<()> {
        self.call("POST", &format!("/repository/{HOSTED}/api/v1/gems"), "application/octet-stream", bytes)
    }

    fn call(&self, method: &str, path: &str, kind: &str, body: &[u8]) -> Result<()> {
        let headers = [("Authorization", TOKEN), ("Content-Type", kind)];
        let reply = Connection::open(self.server.address.parse()?)?.call(method, path, &headers, body)?;
        ensure!((200..300).contains(&reply.status), "{method} {path}: {} {}", reply.status, reply.text());
        Ok(())
    }
}
