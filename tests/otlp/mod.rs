//! Events and figures that leave the server: by the OpenTelemetry protocol and to statsd.

mod away;
mod collector;
mod decoder;
mod equal;
mod receiver;
mod secrets;
mod statsd;
mod told;

use crate::world::{FIRST, Gem, World};
pub(crate) use receiver::{Does, Receiver};

/// A server that sends to this URL each second.
fn world(url: &str) -> World {
    World::start_with_file(&settings(url))
}

/// Settings that send spans and metrics to this URL, metrics each second.
pub(crate) fn settings(url: &str) -> String {
    format!("[telemetry]\notlp_url = \"{url}\"\notlp_interval_s = 1\n")
}

/// Requests for two repositories, with three statuses.
fn requests(world: &World) {
    world.admin().push(FIRST, &Gem::new("lamp", "1.0.0")).expect(200);
    let jar = "org/example/lamp/1.0/lamp-1.0.jar";
    world.admin().put("maven-releases", jar, &[7; 3000]).expect(201);
    for _ in 0..20 {
        world.anon().file("maven-releases", jar).expect(200);
        world.anon().file(FIRST, "info/lamp").expect(200);
    }
    (0..3).for_each(|_| drop(world.anon().file("maven-releases", "org/example/lamp/9/lamp-9.jar").expect(404)));
}
