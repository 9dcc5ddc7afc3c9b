//! Measured processes: their start, processor time and end.

use anyhow::{Context, Result, bail};
use nix::time::clock_getcpuclockid;
use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// A token with all scopes.
pub(crate) const TOKEN: &str = "daylight_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/// A server. It is ended with all its workers when dropped.
pub(crate) struct Server {
    child: Child,
    /// Its name in tables.
    pub(crate) name: &'static str,
    /// Its address, as `127.0.0.1:PORT`.
    pub(crate) address: String,
    /// Its address for HTTP/2 without TLS.
    pub(crate) framed: String,
    /// The address of its own pages and metrics; empty: it is the same.
    pub(crate) admin: String,
}

impl Server {
    /// Starts Daylight's release build on an empty folder, with these settings in its environment.
    pub(crate) fn daylight(folder: &Path, settings: &[(&str, &str)]) -> Result<Self> {
        Self::daylight_on(&folder.join("data"), folder, settings)
    }

    /// Starts another build of it on an empty folder.
    pub(crate) fn daylight_of(program: &Path, folder: &Path) -> Result<Self> {
        Self::start_daylight(Command::new(program), &folder.join("data"), folder, &[], &["serve"])
    }

    /// Starts it on this data folder, with its log in another folder.
    pub(crate) fn daylight_on(data: &Path, folder: &Path, settings: &[(&str, &str)]) -> Result<Self> {
        Self::start_daylight(Command::new(beside("daylight")?), data, folder, settings, &["serve"])
    }

    /// Starts it as the front of the application at this URL.
    pub(crate) fn daylight_front(folder: &Path, to: &str) -> Result<Self> {
        let flags = ["front", "--to", to, "--admin", "127.0.0.1:0"];
        let mut server =
            Self::start_daylight(Command::new(beside("daylight")?), &folder.join("front"), folder, &[], &flags)?;
        server.name = "Daylight's front";
        Ok(server)
    }

    /// Starts it as the front of the application of a configuration file, with its data and its log in this folder.
    pub(crate) fn daylight_front_of(folder: &Path, settings: &str) -> Result<Self> {
        fs::create_dir_all(folder)?;
        let file = folder.join("front.toml");
        println!("front.toml:\n{settings}");
        fs::write(&file, settings)?;
        let admin = format!("127.0.0.1:{}", free_port()?);
        let flags = ["front", "--config", &file.to_string_lossy(), "--admin", &admin];
        let mut server =
            Self::start_daylight(Command::new(beside("daylight")?), &folder.join("front"), folder, &[], &flags)?;
        (server.name, server.admin) = ("Daylight's front", admin);
        Ok(server)
    }

    /// Starts it on this data folder with a settable time of day, which stands still.
    pub(crate) fn daylight_in_conformance(data: &Path, folder: &Path) -> Result<Self> {
        Self::start_daylight(Command::new(beside("daylight")?), data, folder, &[], &["serve", "--conformance"])
    }

    /// Starts it under callgrind, which writes the instructions of each thread to files `counted-NUMBER` in the folder.
    pub(crate) fn daylight_counted(folder: &Path, settings: &[(&str, &str)]) -> Result<Self> {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--separate-threads=yes"]);
        command.arg(format!("--callgrind-out-file={}", folder.join("counted").display())).arg(beside("daylight")?);
        Self::start_daylight(command, &folder.join("data"), folder, settings, &["serve"])
    }

    fn start_daylight(
        mut command: Command,
        data: &Path,
        folder: &Path,
        settings: &[(&str, &str)],
        flags: &[&str],
    ) -> Result<Self> {
        command.args(flags).args(["--listen", "127.0.0.1:0", "--data", &data.to_string_lossy()]);
        let shown: String = settings.iter().map(|(key, value)| format!("{key}={value} ")).collect();
        println!("command: {shown}{command:?}");
        let mut child = command
            .env_clear()
            .env("DAYLIGHT_ADMIN_TOKEN", TOKEN)
            .env("DAYLIGHT_UPSTREAM_RUBYGEMS", "none")
            .envs(settings.iter().copied())
            .stdout(Stdio::piped())
            .stderr(fs::File::create(folder.join("daylight.log"))?)
            .spawn()
            .with_context(|| format!("starting {command:?}"))?;
        let stdout = child.stdout.take().context("standard output")?;
        let mut server =
            Self { child, name: "Daylight", address: String::new(), framed: String::new(), admin: String::new() };
        for line in BufReader::new(stdout).lines() {
            if let Some(address) = line?.strip_prefix("listening on http://") {
                (server.address, server.framed) = (address.to_owned(), address.to_owned());
                return Ok(server);
            }
        }
        bail!("daylight did not start: {}", fs::read_to_string(folder.join("daylight.log"))?)
    }

    /// Starts nginx with a worker for each core on a folder of files, without an access log.
    pub(crate) fn nginx(folder: &Path) -> Result<Self> {
        Self::start_nginx(folder, "")
    }

    /// Starts nginx without its own ETags, which are not digests: Bundler would read them as digests of indexes.
    pub(crate) fn nginx_without_tags(folder: &Path) -> Result<Self> {
        Self::start_nginx(folder, "etag off; ")
    }

    fn start_nginx(folder: &Path, more: &str) -> Result<Self> {
        let (port, framed) = (free_port()?, free_port()?);
        let workers = std::thread::available_parallelism()?;
        let configuration = format!(
            "daemon off;\nworker_processes {workers};\npid nginx.pid;\nevents {{ worker_connections 16384; }}\n\
             http {{\n  access_log off;\n  sendfile on;\n  tcp_nopush on;\n  keepalive_requests 1000000000;\n  keepalive_timeout 300s;\n  \
             open_file_cache max=1000;\n  {more}default_type text/plain;\n  client_body_temp_path body;\n  \
             proxy_temp_path proxy;\n  fastcgi_temp_path fastcgi;\n  uwsgi_temp_path uwsgi;\n  scgi_temp_path scgi;\n  \
             server {{ listen 127.0.0.1:{port}; root files; }}\n  \
             server {{ listen 127.0.0.1:{framed} http2; root files; }}\n}}\n"
        );
        fs::write(folder.join("nginx.conf"), &configuration)?;
        let arguments = ["-p", &folder.to_string_lossy(), "-c", "nginx.conf", "-e", "nginx.log"];
        println!("command: nginx {}\n{configuration}", arguments.join(" "));
        let child = Command::new(program("nginx")).args(arguments).spawn().context("starting nginx")?;
        let (address, framed) = (format!("127.0.0.1:{port}"), format!("127.0.0.1:{framed}"));
        Self { child, name: "nginx", address, framed, admin: String::new() }.when_it_listens(&folder.join("nginx.log"))
    }

    /// A peer that is already running, on this port.
    pub(crate) fn beside(child: Child, name: &'static str, port: u16) -> Self {
        Self { child, name, address: format!("127.0.0.1:{port}"), framed: String::new(), admin: String::new() }
    }

    /// Starts a peer by this command, which listens on this port before long. Its output goes to a file in the folder.
    pub(crate) fn peer(mut command: Command, name: &'static str, port: u16, folder: &Path) -> Result<Self> {
        println!("command: {command:?}");
        let log = folder.join(format!("{name}.log"));
        let output = fs::File::create(&log)?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        Self::beside(command.spawn().with_context(|| format!("starting {name}"))?, name, port).when_it_listens(&log)
    }

    /// Waits until a peer listens. Its log tells why it does not.
    fn when_it_listens(self, log: &Path) -> Result<Self> {
        match when_it_answers(|| Ok(std::net::TcpStream::connect(&self.address)?)) {
            Ok(_) => Ok(self),
            Err(_) => bail!("{} did not start: {}", self.name, fs::read_to_string(log)?),
        }
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Processor time so far, in seconds: user and system, of all threads and workers, also of threads that have ended. By the clocks of
    /// the processes, because /proc tells it in hundredths of a second.
    pub(crate) fn cpu_seconds(&self) -> Result<f64> {
        let mut seconds = 0.0;
        for id in family(self.child.id())? {
            let clock = clock_getcpuclockid(nix::unistd::Pid::from_raw(i32::try_from(id)?))?;
            seconds += Duration::from(clock.now()?).as_secs_f64();
        }
        Ok(seconds)
    }

    /// Anonymous memory of all workers, in bytes.
    pub(crate) fn memory(&self) -> Result<u64> {
        self.status("RssAnon:")
    }

    /// Resident memory, including mapped files, in bytes.
    pub(crate) fn resident(&self) -> Result<u64> {
        self.status("VmRSS:")
    }

    /// The highest resident memory so far, in bytes.
    pub(crate) fn highest(&self) -> Result<u64> {
        self.status("VmHWM:")
    }

    fn status(&self, field: &'static str) -> Result<u64> {
        let mut kilobytes = 0;
        for id in family(self.child.id())? {
            let status = fs::read_to_string(format!("/proc/{id}/status"))?;
            let line = status.lines().find_map(|line| line.strip_prefix(field)).context(field)?;
            kilobytes += line.trim().trim_end_matches(" kB").parse::<u64>()?;
        }
        Ok(kilobytes << 10)
    }
}

impl AsRef<Self> for Server {
    fn as_ref(&self) -> &Self {
        self
    }
}

/// Daylight, and an nginx with a folder of files.
pub(crate) struct Pair {
    pub(crate) daylight: Server,
    pub(crate) nginx: Server,
    folder: TempDir,
}

impl Pair {
    /// Starts both.
    pub(crate) fn start(settings: &[(&str, &str)]) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        // If root starts nginx, its workers run as another user.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755))?;
        fs::create_dir(folder.path().join("files"))?;
        let daylight = Server::daylight(folder.path(), settings)?;
        let nginx = Server::nginx(folder.path())?;
        Ok(Self { daylight, nginx, folder })
    }

    /// Adds a file for nginx. Returns its size.
    pub(crate) fn file(&self, name: &str, bytes: &[u8]) -> Result<usize> {
        fs::write(self.folder.path().join("files").join(name), bytes)?;
        Ok(bytes.len())
    }
}

/// Asks a server that is starting again and again. Fails as the last attempt.
pub(crate) fn when_it_answers<T>(ask: impl Fn() -> Result<T>) -> Result<T> {
    for _ in 0..400 {
        if let Ok(answer) = ask() {
            return Ok(answer);
        }
        std::thread::sleep(Duration::from_millis(25));
    }
    ask()
}

/// An unused port.
pub(crate) fn free_port() -> Result<u16> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// From now on this thread and its children run only on these processors.
pub(crate) fn only_on(processors: std::ops::Range<usize>) -> Result<()> {
    let mut set = CpuSet::new();
    processors.for_each(|processor| set.set(processor));
    sched_setaffinity(None, &set).context("choosing processors")
}

/// The load of the machine in the last minute: other programs make every figure less exact.
pub(crate) fn load_average() -> Result<String> {
    Ok(fs::read_to_string("/proc/loadavg")?.split(' ').next().unwrap_or_default().to_owned())
}

impl Drop for Server {
    fn drop(&mut self) {
        // SIGTERM and not SIGKILL, so that nginx ends its workers. It fails only if the process has already ended.
        let _ = kill_process(Pid::from_child(&self.child), Signal::TERM);
        let _ = self.child.wait();
    }
}

/// The children of this process that have not ended.
pub(crate) fn children() -> Result<Vec<Pid>> {
    let family = family(std::process::id())?;
    Ok(family.into_iter().skip(1).filter_map(|id| Pid::from_raw(i32::try_from(id).ok()?)).collect())
}

/// A process and its children.
fn family(id: u32) -> Result<Vec<u32>> {
    let mut all = vec![id];
    for task in fs::read_dir(format!("/proc/{id}/task")).context("reading the server's threads")? {
        // A thread may end meanwhile.
        let children = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
        all.extend(children.split_whitespace().filter_map(|child| child.parse::<u32>().ok()));
    }
    Ok(all)
}

/// Another program of the same build.
pub(crate) fn beside(name: &str) -> Result<PathBuf> {
    Ok(std::env::current_exe()?.with_file_name(name))
}

/// Debian installs servers in folders that are only in root's path.
pub(crate) fn program(name: &str) -> PathBuf {
    let there = Path::new("/usr/sbin").join(name);
    if there.exists() { there } else { PathBuf::from(name) }
}

/// The first line that a short command prints, on either stream.
pub(crate) fn said(name: &str, arguments: &[&str]) -> Result<String> {
    let output = Command::new(program(name)).args(arguments).output().with_context(|| format!("running `{name}`"))?;
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned())
}
