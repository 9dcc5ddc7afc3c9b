//! Bundler on a machine without gems, and the gems that it installs: generated ones, as a public registry has no part in a benchmark.

use crate::gem::Gem;
use crate::http::Connection;
use crate::process::{Server, TOKEN};
use crate::push::{self, noise};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// The gems of a bundle, as many as a large application has. Each needs the next of its chain, and the Gemfile names the first ones.
const GEMS: usize = 200;
const CHAINS: usize = 20;
/// The sizes of their payloads in bytes, in turns.
const SIZES: [usize; 4] = [10_000, 30_000, 60_000, 300_000];

fn name(number: usize) -> String {
    format!("lamp-{number:03}")
}

/// Publishes the gems on a Daylight.
pub(crate) fn publish(server: &Server) -> Result<()> {
    let mut connection = Connection::open(server.address.parse()?)?;
    for number in 0..GEMS {
        let mut gem = Gem::new(&name(number), "1.0.0").payload(&noise(number as u64, SIZES[number % SIZES.len()]));
        if number + CHAINS < GEMS {
            gem = gem.needs(&name(number + CHAINS), "~> 1.0");
        }
        let reply = connection.call("POST", push::PATH, &[("Authorization", TOKEN)], &gem.bytes())?;
        ensure!(reply.status == 200, "push: {}", reply.text());
    }
    Ok(())
}

/// Installs the bundle from this URL with Debian's Bundler. Returns the time that it took.
pub(crate) fn install(url: &str) -> Result<Duration> {
    let folder = tempfile::tempdir()?;
    let home = folder.path();
    let gems: String = (0..CHAINS).map(|number| format!("gem \"{}\"\n", name(number))).collect();
    fs::write(home.join("Gemfile"), format!("source \"{url}\"\n{gems}"))?;
    let mut command = Command::new("bundle");
    command.args(["install", "--quiet", "--jobs", "4"]).current_dir(home).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default()).env("LANG", "C.UTF-8").env("HOME", home);
    command.env("GEM_HOME", home.join("gems")).env("BUNDLE_USER_HOME", home.join("bundle"));
    command.env("BUNDLE_PATH", home.join("installed")).env("BUNDLE_SILENCE_ROOT_WARNING", "1");
    let began = Instant::now();
    let said = command.output().with_context(|| format!("running {command:?}"))?;
    let took = began.elapsed();
    ensure!(said.status.success(), "{command:?}: {}", String::from_utf8_lossy(&said.stdout));
    Ok(took)
}
