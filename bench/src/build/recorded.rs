//! What builds request, recorded: an nginx gets from the central repository, or from a Daylight with gems, what its folder lacks, and its
//! log has the requests. The tree of files that it leaves is the upstream of all rows, which sends no digests.

use super::central::Central;
use super::{bundler, maven};
use crate::fronted::peers::run_nginx;
use crate::process::{self, Server, free_port};
use anyhow::{Context, Result, ensure};
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// The name of nginx's own log of requests, in its folder.
const LOG: &str = "requests.log";
/// The headers with digests that a Daylight sends.
const DIGESTS: [&str; 6] =
    ["ETag", "X-Checksum-MD5", "X-Checksum-SHA1", "X-Checksum-SHA256", "X-Checksum-SHA512", "Repr-Digest"];

/// A tree of files, and the builds that made it.
pub(crate) struct Recorded {
    folder: TempDir,
    /// The format of a repository for it, as the API names it.
    pub(crate) format: &'static str,
    pub(crate) clients: Vec<Client>,
}

/// A client, and the paths that its build requested and got, in order.
pub(crate) struct Client {
    pub(crate) name: String,
    tool: Tool,
    pub(crate) requests: Vec<String>,
}

enum Tool {
    /// The folder of a Maven.
    Maven(PathBuf),
    Bundler,
}

impl Client {
    /// Builds on a machine that has nothing, with everything from this URL. Returns the time that it took.
    pub(crate) fn build(&self, url: &str) -> Result<Duration> {
        match &self.tool {
            Tool::Maven(home) => maven::build(home, url),
            Tool::Bundler => bundler::install(url),
        }
    }
}

impl Recorded {
    /// Builds once with each Maven.
    pub(crate) fn maven() -> Result<Self> {
        let central = Central::open()?;
        let mut recorded = Self::new("maven")?;
        for (name, home) in central.clients()? {
            recorded.record(format!("Maven {name}"), Tool::Maven(home), &central.url())?;
        }
        Ok(recorded)
    }

    /// Installs once with Bundler.
    pub(crate) fn gems() -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let daylight = Server::daylight(folder.path(), &[])?;
        bundler::publish(&daylight)?;
        let mut recorded = Self::new("gem")?;
        let url = format!("http://{}/repository/gems-private/", daylight.address);
        recorded.record(process::said("bundle", &["--version"])?, Tool::Bundler, &url)?;
        Ok(recorded)
    }

    fn new(format: &'static str) -> Result<Self> {
        let recorded = Self { folder: tempfile::tempdir()?, format, clients: Vec::new() };
        fs::create_dir(recorded.files())?;
        Ok(recorded)
    }

    /// Builds through an nginx that adds to the tree what it lacks, and passes on no digests: Maven 3.9 would request no checksums.
    fn record(&mut self, name: String, tool: Tool, source: &str) -> Result<()> {
        let hidden: String = DIGESTS.iter().map(|header| format!("\n  proxy_hide_header {header};")).collect();
        let missing = format!(
            "try_files $uri @source;\n  }}\n  location @source {{\n  root {};\n  proxy_pass {}$request_uri;\n  \
             proxy_set_header Accept-Encoding '';\n  proxy_store on;{hidden}",
            self.files().display(),
            source.trim_end_matches('/')
        );
        let upstream = self.nginx(&missing, true)?;
        let mut client = Client { name, tool, requests: Vec::new() };
        client.build(&upstream.url())?;
        client.requests = upstream.requests()?;
        ensure!(!client.requests.is_empty(), "{} requested nothing", client.name);
        self.clients.push(client);
        Ok(())
    }

    /// The folder of the tree.
    pub(crate) fn files(&self) -> PathBuf {
        self.folder.path().join("files")
    }

    /// The requests of all builds, each path once.
    pub(crate) fn requests(&self) -> Vec<String> {
        let mut seen = HashSet::new();
        let all = self.clients.iter().flat_map(|client| &client.requests);
        all.filter(|path| seen.insert(*path)).cloned().collect()
    }

    /// The bytes of the artifacts of these paths.
    pub(crate) fn size(&self, requests: &[String]) -> Result<u64> {
        let size = |path: &String| Ok(fs::metadata(self.files().join(path.trim_start_matches('/')))?.len());
        requests.iter().filter(|path| is_artifact(path)).map(size).sum()
    }

    /// Starts an nginx with the tree; with a log it can tell its requests.
    pub(crate) fn upstream(&self, logs: bool) -> Result<Upstream> {
        self.nginx("", logs)
    }

    fn nginx(&self, location: &str, logs: bool) -> Result<Upstream> {
        let folder = tempfile::tempdir()?;
        let log = if logs { format!("access_log {LOG} plain;\n  ") } else { String::new() };
        // Bundler would read nginx's ETags as digests of indexes.
        let locations =
            format!("{log}etag off;\n  location / {{\n  root {};\n  {location}\n  }}", self.files().display());
        let format = "log_format plain '$status $request_uri';\n  ";
        let server = run_nginx(folder.path(), "nginx", free_port()?, format, &locations)?;
        Ok(Upstream { server, folder })
    }
}

/// A running nginx.
pub(crate) struct Upstream {
    pub(crate) server: Server,
    pub(crate) folder: TempDir,
}

impl Upstream {
    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/", self.server.address)
    }

    /// The paths of its replies with a body, each path once, so far.
    fn requests(&self) -> Result<Vec<String>> {
        let (log, mut seen) = (self.log()?, HashSet::new());
        let paths = log.lines().filter_map(|line| line.strip_prefix("200 "));
        Ok(paths.filter(|path| seen.insert(*path)).map(str::to_owned).collect())
    }

    /// The number of requests so far.
    pub(crate) fn count(&self) -> Result<usize> {
        Ok(self.log()?.lines().count())
    }

    fn log(&self) -> Result<String> {
        fs::read_to_string(self.folder.path().join(LOG)).context("the log of nginx")
    }
}

/// Whether a path is no checksum of another.
pub(crate) fn is_artifact(path: &str) -> bool {
    !path.ends_with(".sha1")
}
