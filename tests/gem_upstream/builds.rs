//! Builds through a remote repository, with each of the real clients.

use super::{REMOTE, Scene};
use crate::world::{Client, FIRST, Gem, Ruby};

crate::world::with_each_client!([what_was_built_once_is_built_again_without_the_upstream]);

const TELL: &str = "require 'lamp'; puts \"lamp #{Lamp::VERSION}\"";

fn what_was_built_once_is_built_again_without_the_upstream(client: Client) {
    let mut scene = Scene::new();
    scene.upstream.admin().push(FIRST, &Gem::new("oil", "1.0.0")).expect(200);
    scene.upstream.admin().push(FIRST, &Gem::new("lamp", "1.0.0").needs("oil", "~> 1.0")).expect(200);
    let url = scene.world.url(REMOTE);

    let first = Ruby::with(client);
    let app = first.app("app", &url, "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby(TELL), "lamp 1.0.0\n");

    scene.upstream.stop();
    let other = Ruby::with(client);
    let app = other.app("app", &url, "gem 'lamp'");
    app.bundle(&["install"]).good();
    assert_eq!(app.ruby(TELL), "lamp 1.0.0\n");
}
