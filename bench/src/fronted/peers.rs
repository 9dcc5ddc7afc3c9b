//! The application of the rows, and the programs that others put in front of one: nginx, Varnish, and thruster, where its program is given.

use crate::process::{self, Server, free_port, program};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with thruster's program, which no package has.
const THRUSTER: &str = "THRUSTER";
/// Memory for kept responses, in MB: thruster's default.
const CACHE_MB: usize = 64;

/// The application: nginx with files, which may be kept below `/kept`, and not below `/missed`. A process of its own.
pub(crate) struct Application {
    server: Server,
    files: PathBuf,
}

impl Application {
    /// Starts it without files.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let (own, port) = (folder.join("application"), free_port()?);
        let files = own.join("files");
        fs::create_dir_all(&files)?;
        let locations = "location /kept/ { alias files/; add_header Cache-Control 'public, max-age=86400'; }\n  \
                         location /missed/ { alias files/; add_header Cache-Control 'no-store'; etag off; }";
        let locations = locations.replace("files/", &format!("{}/", files.display()));
        let server = run_nginx(&own, "the application", port, "", &locations)?;
        Ok(Self { server, files })
    }

    /// Adds a file.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> Result<()> {
        fs::write(self.files.join(name), bytes).context("a file of the application")
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address)
    }

    fn port(&self) -> &str {
        self.server.address.rsplit(':').next().unwrap_or_default()
    }
}

/// nginx in front of it, with idle connections to it, and with or without a cache.
pub(crate) fn nginx(folder: &Path, application: &Application, keeps: bool) -> Result<Server> {
    let own = folder.join("nginx");
    fs::create_dir_all(&own)?;
    let mut outside = format!("upstream application {{ server {}; keepalive 64; }}\n  ", application.server.address);
    let mut location =
        "location / { proxy_pass http://application; proxy_http_version 1.1; proxy_set_header Connection ''; \
                        proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;"
            .to_owned();
    if keeps {
        outside.push_str(&format!("proxy_cache_path {} keys_zone=kept:10m;\n  ", own.join("cache").display()));
        location.push_str(" proxy_cache kept; proxy_cache_lock on;");
    }
    run_nginx(&own, "nginx", free_port()?, &outside, &format!("{location} }}"))
}

/// Starts an nginx with these lines outside of its server and in it.
pub(crate) fn run_nginx(
    folder: &Path,
    name: &'static str,
    port: u16,
    outside: &str,
    locations: &str,
) -> Result<Server> {
    let workers = std::thread::available_parallelism()?;
    let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
    let configuration = format!(
        "daemon off;\n{user}worker_processes {workers};\npid nginx.pid;\nevents {{ worker_connections 16384; }}\n\
         http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  keepalive_requests 1000000000;\n  keepalive_timeout 300s;\n  \
         open_file_cache max=1000;\n  default_type text/plain;\n  client_body_temp_path body;\n  proxy_temp_path proxy;\n  \
         fastcgi_temp_path fastcgi;\n  uwsgi_temp_path uwsgi;\n  scgi_temp_path scgi;\n  {outside}\
         server {{\n  listen 127.0.0.1:{port};\n  {locations}\n  }}\n}}\n"
    );
    println!("{name}:\n{configuration}");
    fs::write(folder.join("nginx.conf"), configuration)?;
    let mut command = Command::new(program("nginx"));
    command.args(["-p", &folder.to_string_lossy(), "-c", "nginx.conf", "-e", "nginx.log"]);
    Server::peer(command, name, port, folder)
}

/// Varnish in front of it, with memory of its own.
pub(crate) fn varnish(folder: &Path, application: &Application) -> Result<Server> {
    println!("version: {}", process::said("varnishd", &["-V"])?);
    let (own, port) = (folder.join("varnish"), free_port()?);
    let mut command = Command::new(program("varnishd"));
    command.args(["-F", "-j", "none", "-a", &format!("127.0.0.1:{port}"), "-b", &application.server.address]);
    command.args(["-s", &format!("malloc,{CACHE_MB}m"), "-n"]).arg(own);
    Server::peer(command, "Varnish", port, folder)
}

/// thruster in front of it, if the variable names its program.
pub(crate) fn thruster(folder: &Path, application: &Application) -> Result<Option<Server>> {
    thruster_of(folder, application.port())
}

/// thruster in front of the application on a port, if the variable names its program. It runs a command, and passes requests on to the port.
pub(crate) fn thruster_of(folder: &Path, target: &str) -> Result<Option<Server>> {
    let Some(thruster) = std::env::var_os(THRUSTER) else {
        println!("thruster is left out: {THRUSTER} does not name its program");
        return Ok(None);
    };
    let port = free_port()?;
    let mut command = Command::new(thruster);
    command.args(["sleep", "100000"]).env("HTTP_PORT", port.to_string()).env("TARGET_PORT", target);
    command.env("LOG_REQUESTS", "0").current_dir(folder);
    Server::peer(command, "thruster", port, folder).map(Some)
}
