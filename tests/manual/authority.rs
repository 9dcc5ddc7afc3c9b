//! The stage of the page about certificates from an authority: a server that has one, and the authority.

use super::stage::Stage;
use crate::world::{Pebble, Ports, World, await_true, free_port};

/// A server that gets its certificate from an authority of a company, and a curl that finds it by its name.
pub(super) fn stage() -> Stage {
    let ports = Ports { tls: free_port(), http: free_port() };
    let pebble = Pebble::start(ports);
    let settings = format!(
        "[server]\nlisten = \"127.0.0.1:{}\"\n[server.acme]\ndirectory = \"{}\"\nnames = \"packages.example\"\n\
         contact = \"admin@packages.example\"\ntrust = \"{}\"\n",
        ports.tls,
        pebble.directory(),
        pebble.trust().display()
    );
    let world = World::start_with_file(&settings);
    let root = pebble.root().to_str().unwrap().to_owned();
    let stage = Stage::on(world).data("/var/lib/daylight").name("/etc/daylight/company.pem", &root);
    let to = format!("connect-to = \"packages.example:443:127.0.0.1:{}\"\n", ports.tls);
    std::fs::write(stage.home().join(".curlrc"), to).unwrap();
    stage.after(move |stage| {
        assert_eq!(pebble.count("order-plz"), 1);
        stage.world.reload("");
        await_true("it got another certificate", || pebble.count("order-plz") == 2);
        await_true("the certificate is there", || stage.world.data().join("acme/certificate.pem").exists());
    })
}
