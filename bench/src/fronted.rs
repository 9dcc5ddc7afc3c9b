//! Rows of `daylight front`: a response that is kept, compared with our own page, nginx, Varnish and thruster, all with the same bytes;
//! and a response that is not kept, compared with nginx in front of the same application.

pub(crate) mod peers;

use crate::hit::{PAGE, publish, read};
use crate::process::Server;
use crate::turns::{Asked, Entrant};
use anyhow::Result;
use peers::Application;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use tempfile::TempDir;

/// The number of versions in the `/info` of each size.
const SMALL: usize = 4;
const LARGE: usize = 480;
/// The page with the larger number.
const LARGE_PAGE: &str = "/repository/gems-private/info/shelf";

/// A response that is kept.
pub(crate) fn hits() -> Result<()> {
    println!("\n## A kept response of an application");
    let folder = folder()?;
    let pages = Server::daylight(folder.path(), &[])?;
    publish(&pages, "lamp", SMALL)?;
    publish(&pages, "shelf", LARGE)?;
    let application = Application::start(folder.path())?;
    application.file("small", &read(&pages, PAGE)?)?;
    application.file("large", &read(&pages, LARGE_PAGE)?)?;
    let front = Server::daylight_front(folder.path(), &application.url())?;
    let nginx = peers::nginx(folder.path(), &application, true)?;
    let varnish = peers::varnish(folder.path(), &application)?;
    let thruster = peers::thruster(folder.path(), &application)?;
    for (path, page, peer, own) in [("/kept/small", PAGE, 0.9, 1.1), ("/kept/large", LARGE_PAGE, 1.1, 1.1)] {
        let mut others = vec![
            Entrant { server: &pages, path: page, must_be: Some(own) },
            Entrant { server: &nginx, path, must_be: Some(peer) },
            Entrant { server: &varnish, path, must_be: Some(peer) },
        ];
        others.extend(thruster.iter().map(|server| Entrant { server, path, must_be: Some(0.25) }));
        Asked::plainly().in_turns(&Entrant { server: &front, path, must_be: None }, &others)?;
    }
    Ok(())
}

/// A response that may not be kept.
pub(crate) fn misses() -> Result<()> {
    println!("\n## A response of an application that is not kept; ours must take at most 60 us");
    let folder = folder()?;
    let application = Application::start(folder.path())?;
    application.file("small", &[b'x'; 500])?;
    application.file("large", &[b'x'; 55_000])?;
    let front = Server::daylight_front(folder.path(), &application.url())?;
    let nginx = peers::nginx(folder.path(), &application, false)?;
    for path in ["/missed/small", "/missed/large"] {
        let other = Entrant { server: &nginx, path, must_be: Some(1.2) };
        Asked::plainly().in_turns(&Entrant { server: &front, path, must_be: None }, &[other])?;
    }
    Ok(())
}

fn folder() -> Result<TempDir> {
    let folder = tempfile::tempdir()?;
    // If root starts nginx, its workers run as another user.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    Ok(folder)
}
