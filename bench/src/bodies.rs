//! Row 2: a page of 50 KB, and bodies of 2, 10 and 100 MB, against nginx with sendfile.

use crate::contest::Contest;
use crate::gem::Gem;
use crate::hit::{publish, read};
use crate::http::Connection;
use crate::load::Generator;
use crate::process::{Pair, TOKEN};
use crate::push::{self, noise};
use anyhow::{Result, ensure};

/// This many versions make an `/info` of about 50 KB.
const VERSIONS: usize = 480;
const MEGABYTES: [usize; 3] = [2, 10, 100];

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## A page of 50 KB, and large bodies");
    let pair = Pair::start(&[])?;
    let (daylight, nginx, generator) = (&pair.daylight, &pair.nginx, Generator::Wrk);
    publish(daylight, "shelf", VERSIONS)?;
    let path = "/repository/gems-private/info/shelf";
    let size = pair.file("page", &read(daylight, path)?)?;
    Contest { daylight, peer: nginx, paths: [path, "/page"], size, generator, connections: 32, seconds: 4, rounds: 5 }
        .run()?;

    for megabytes in MEGABYTES {
        let bytes =
            Gem::new("crate", &format!("{megabytes}.0")).payload(&noise(megabytes as u64, megabytes << 20)).bytes();
        let mut connection = Connection::open(daylight.address.parse()?)?;
        let reply = connection.call("POST", push::PATH, &[("Authorization", TOKEN)], &bytes)?;
        ensure!(reply.status == 200, "push: {}", reply.text());
        let path = format!("/repository/gems-private/gems/crate-{megabytes}.0.gem");
        ensure!(read(daylight, &path)? == bytes, "{path} differs from the pushed bytes");
        let file = format!("crate-{megabytes}");
        let size = pair.file(&file, &bytes)?;
        let paths = [path.as_str(), &format!("/{file}")];
        Contest { daylight, peer: nginx, paths, size, generator, connections: 4, seconds: 4, rounds: 5 }.run()?;
    }
    Ok(())
}
