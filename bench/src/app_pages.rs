//! Row of pages that an application has written into memcached: an entry that is read for each request, a decoded page that is kept beside the
//! version of its entry, and a small one; each compared with nginx that sends the same bytes as values of memcached.

use crate::fronted::peers::{self, Application};
use crate::process::{Server, free_port};
use crate::turns::{Asked, Entrant};
use crate::written_pages::{Memcached, RAW, gzip, text};
use anyhow::{Result, ensure};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

/// The pages of a size: each request is for the next.
const PAGES: usize = 64;
/// The size of a coded page, in bytes, at least.
const CODED: usize = 8 << 10;
/// The page of the README of cacheabled, in bytes.
const LARGE: usize = 73_787;
const SMALL: usize = 500;

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    println!("\n## Pages that an application has written into memcached");
    let folder = tempfile::tempdir()?;
    // If root starts nginx, its workers run as another user.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
    let application = Application::start(folder.path())?;
    let mut memcached = Memcached::start(folder.path())?;
    let len = (1..).map(|step| step * 512).find(|len| gzip(&text(*len, 0)).is_ok_and(|coded| coded.len() >= CODED));
    for number in 0..PAGES {
        memcached.page(&format!("/coded/{number}"), &text(len.unwrap_or_default(), number as u64), false)?;
        memcached.page(&format!("/plain/{number}"), &text(LARGE, number as u64), true)?;
    }
    memcached.page("/small/0", &text(SMALL, 0), true)?;
    let nginx = nginx(folder.path(), &memcached)?;
    let front = |name: &str, cache_bytes: usize| {
        let settings = settings(&application.url(), &memcached.url(), cache_bytes);
        Server::daylight_front_of(&folder.path().join(name), &settings)
    };
    // Without memory each page is read from memcached.
    let (reads, keeps) = (front("reads", 0)?, front("keeps", 64 << 20)?);
    let script = script(folder.path())?;
    let rows = [
        ("8 KB gzip, read each time; at most 25 us", &reads, "/coded/0", Some("gzip"), Some(script.clone()), 1.11),
        (
            "73,787 bytes, decoded once, its version confirmed; at most 40 us",
            &keeps,
            "/plain/0",
            Some("gzip;q=0"),
            Some(script),
            1.11,
        ),
        (
            "500 bytes from memory, its version confirmed; at most 15 us",
            &keeps,
            "/small/0",
            Some("gzip;q=0"),
            None,
            1.11,
        ),
    ];
    for (title, ours, path, codings, script, must_be) in rows {
        println!("\n### {title}");
        let asked = Asked { codings, script };
        hits(&asked, ours, path)?;
        let ours = Entrant { server: ours, path, must_be: None };
        asked.in_turns(&ours, &[Entrant { server: &nginx, path, must_be: Some(must_be) }])?;
        println!("CPU of memcached so far: {:.2} s", memcached.server.cpu_seconds()?);
    }
    Ok(())
}

/// Fails unless the front sends the page that the application wrote.
fn hits(asked: &Asked, server: &Server, path: &str) -> Result<()> {
    let mut connection = crate::http::Connection::open(server.address.parse()?)?;
    let codings = asked.codings.unwrap_or_default();
    let reply = connection.call("GET", path, &[("Accept-Encoding", codings)], b"")?;
    let said = reply.header("cache-status").unwrap_or_default();
    ensure!(said.ends_with("daylight; hit; detail=page"), "{path}: {} {said}", reply.status);
    Ok(())
}

/// The settings of a front whose application writes pages of response_bank with keys of schema 2. On a busy machine a read may take longer than the usual
/// timeout, and the application would be asked.
pub(crate) fn settings(application: &str, memcached: &str, cache_bytes: usize) -> String {
    format!(
        "[[app]]\nname = \"shop\"\nto = \"{application}\"\ncache_bytes = {cache_bytes}\n\n[app.pages]\nformat = \"response_bank\"\n\
         servers = [\"{memcached}\"]\nkeys = [\"2\"]\ntimeout_ms = 1000\n"
    )
}

/// nginx that sends values of memcached as they are.
fn nginx(folder: &Path, memcached: &Memcached) -> Result<Server> {
    let own = folder.join("nginx");
    fs::create_dir_all(&own)?;
    let upstream = format!("upstream store {{ server {}; keepalive 64; }}\n  ", memcached.server.address);
    let pass = format!(
        "set $memcached_key \"{RAW}$uri\"; memcached_pass store; default_type 'text/html; charset=utf-8'; add_header Vary Accept-Encoding;"
    );
    let locations =
        format!("location / {{ {pass} }}\n  location /coded/ {{ {pass} add_header Content-Encoding gzip; }}");
    peers::run_nginx(&own, "nginx", free_port()?, &upstream, &locations)
}

/// Has wrk ask for all pages of a path that ends with the number of one.
fn script(folder: &Path) -> Result<PathBuf> {
    let file = folder.join("each.lua");
    let text = format!(
        "local all, asked = {{}}, 0\n\
         init = function() for n = 0, {PAGES} - 1 do all[n] = wrk.format('GET', (wrk.path:gsub('%d+$', n))) end end\n\
         request = function() asked = (asked + 1) % {PAGES}; return all[asked] end\n"
    );
    fs::write(&file, text)?;
    Ok(file)
}
