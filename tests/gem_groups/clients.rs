//! Builds with private, paid and public gems through one URL, with the oldest and the newest client.

use crate::world::{ADMIN, App, Client, FIRST, Gem, Ruby, World};
use serde_json::json;

crate::world::with_each_client!([
    private_paid_and_public_gems_come_from_one_mirror_and_go_on_in_parts_and_without_the_upstreams,
]; bullseye: Bullseye, newest: Newest);

/// The source in the Gemfile. No server listens there.
const ELSEWHERE: &str = "https://gems.example";
const TELL: &str =
    "require 'desk'; require 'lamp'; require 'wick'; puts [Desk, Lamp, Wick].map { |gem| gem::VERSION } * ' '";

/// A server with a new data folder, whose group `gems` also has the repository of a vendor.
struct Company {
    public: World,
    vendor: World,
    world: World,
    laptop: String,
}

impl Company {
    fn new() -> Self {
        let (public, vendor) = (World::start(), World::start());
        let world = World::start_in_conformance(&[("UPSTREAM_SHOP", ADMIN)]);
        vendor.repository("shop", true);
        world.change("rubygems", &json!({"remote": {"urls": [public.url(FIRST)]}}));
        let remote = json!({"urls": [vendor.url("shop")], "credentials": "env:UPSTREAM_SHOP"});
        world.make(&json!({"name": "paid", "format": "gem", "remote": remote}));
        world.change("gems", &json!({"private": true, "members": [FIRST, "paid", "rubygems"]}));
        let token = json!({"name": "laptop", "scopes": ["read"], "repositories": ["gems"]});
        let made = world.admin().post_json("/api/v1/tokens", &token).expect(201).json();
        let laptop = format!("laptop:{}", made["secret"].as_str().unwrap());
        Self { public, vendor, world, laptop }
    }

    /// An application on a machine that uses the one URL: as a mirror for all sources, with a token in the URL, or as
    /// the source itself with separate credentials.
    fn app<'a>(&self, machine: &'a Ruby, is_for_all: bool) -> App<'a> {
        let app = machine.app("app", ELSEWHERE, "gem 'desk'");
        let url = self.world.url("gems");
        let set = |name: &str, value: &str| app.bundle(&["config", "set", "--local", name, value]).good();
        if is_for_all {
            set("mirror.all", &url.replace("http://", &format!("http://{}@", self.laptop)));
        } else {
            set(&format!("mirror.{ELSEWHERE}"), &url);
            set(&url, &self.laptop);
        }
        app
    }
}

/// The statuses in the output of a verbose Bundler for this file.
fn answered<'a>(said: &'a str, file: &str) -> Vec<&'a str> {
    let answers = said.lines().filter_map(|line| line.strip_prefix("HTTP ")?.split_once(' '));
    answers.filter(|(_, rest)| rest.ends_with(&format!("/gems/{file}"))).map(|(status, _)| status).collect()
}

fn private_paid_and_public_gems_come_from_one_mirror_and_go_on_in_parts_and_without_the_upstreams(client: Client) {
    let mut company = Company::new();
    company.world.set_time("2026-11-02T12:00:00Z");
    let desk = |version: &str| Gem::new("desk", version).needs("lamp", ">= 1.0").needs("wick", "~> 1.0");
    let publish = |world: &World, repository: &str, gem: &Gem| {
        world.admin().push(repository, gem).expect(200);
    };
    // A server that merges by version would return the placeholder.
    let public = |name, version| publish(&company.public, FIRST, &Gem::new(name, version));
    public("wick", "9.0.0");
    public("lamp", "1.0.0");
    publish(&company.vendor, "shop", &Gem::new("wick", "1.0.0"));
    publish(&company.world, FIRST, &desk("1.0.0"));
    let machine = Ruby::with(client);
    let app = company.app(&machine, true);
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby(TELL), "1.0.0 1.0.0 1.0.0\n");

    // A gem that is pushed here is visible at once, a gem that is published upstream after the next look.
    publish(&company.world, FIRST, &desk("1.1.0"));
    let said = app.bundle(&["update", "--all", "--verbose"]).good();
    assert_eq!(app.ruby(TELL), "1.1.0 1.0.0 1.0.0\n");
    assert_eq!(answered(&said, "versions"), ["206"], "{said}");
    let public = |name, version| publish(&company.public, FIRST, &Gem::new(name, version));
    public("lamp", "1.1.0");
    publish(&company.vendor, "shop", &Gem::new("wick", "1.1.0"));
    company.world.set_time("2026-11-02T13:00:00Z");
    let said = app.bundle(&["update", "--all", "--verbose"]).good();
    assert_eq!(app.ruby(TELL), "1.1.0 1.1.0 1.1.0\n");
    assert_eq!(answered(&said, "versions"), ["206"], "{said}");

    company.public.stop();
    company.vendor.stop();
    company.world.set_time("2026-11-03T13:00:00Z");
    let machine = Ruby::with(client);
    let app = company.app(&machine, false);
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby(TELL), "1.1.0 1.1.0 1.1.0\n");
}
