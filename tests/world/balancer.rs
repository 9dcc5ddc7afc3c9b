//! Debian's HAProxy and nginx, each with a configuration of a test, in front of several servers.

use super::{eventually, write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// The tested balancers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BalancerProduct {
    HaProxy,
    Nginx,
}

impl BalancerProduct {
    /// A command that runs it in the foreground with this configuration, in this folder.
    fn command(self, configuration: &str, folder: &Path) -> Command {
        let file = folder.join("balancer.conf");
        let (program, flags, text) = match self {
            Self::HaProxy => ("/usr/sbin/haproxy", ["-db", "-f"], configuration.to_owned()),
            Self::Nginx => {
                let paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
                    .map(|name| format!("{name}_temp_path {}/{name};\n", folder.display()))
                    .concat();
                let main = "daemon off;\nerror_log stderr;\npid nginx.pid;\nevents {}\n";
                (
                    "/usr/sbin/nginx",
                    ["-e", "stderr"],
                    format!("{main}http {{\naccess_log off;\n{paths}{configuration}\n}}\n"),
                )
            }
        };
        write(&file, &text);
        let mut command = Command::new(program);
        command.args(flags);
        if self == Self::Nginx {
            command.arg("-p").arg(folder).arg("-c");
        }
        command.arg(&file).current_dir(folder).env_clear().stdin(Stdio::null());
        command
    }

    /// What it says against a configuration; an error if it would not start.
    pub(crate) fn reads(self, configuration: &str) -> Result<(), String> {
        let folder = TempDir::new().unwrap();
        let check = if self == Self::Nginx { "-t" } else { "-c" };
        let read = self.command(configuration, folder.path()).arg(check).output().unwrap();
        let said = String::from_utf8_lossy(&read.stdout) + String::from_utf8_lossy(&read.stderr);
        if read.status.success() && !said.contains("[WARNING]") { Ok(()) } else { Err(said.into_owned()) }
    }
}

/// A running one. Dropping it kills it.
pub(crate) struct Balancer {
    process: Child,
    _folder: TempDir,
}

impl Balancer {
    /// Starts it with this configuration, and waits until it listens at this address.
    pub(crate) fn start(product: BalancerProduct, configuration: &str, address: SocketAddr) -> Self {
        let folder = TempDir::new().unwrap();
        let log = folder.path().join("log");
        let output = std::fs::File::create(&log).unwrap();
        let mut command = product.command(configuration, folder.path());
        let spawned = command.stdout(output.try_clone().unwrap()).stderr(output).spawn();
        let mut process = spawned.unwrap_or_else(|error| panic!("the {product:?} of `scripts/setup test`: {error}"));
        let said = || std::fs::read_to_string(&log).unwrap_or_default();
        eventually(|| match (TcpStream::connect(address), process.try_wait().unwrap()) {
            (_, Some(ended)) => panic!("{product:?} ended with {ended}: {}", said()),
            (Ok(_), None) => Ok(()),
            (Err(error), None) => Err(format!("{product:?}: {error}; {}", said())),
        });
        Self { process, _folder: folder }
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        // nginx has processes of its own, which end with the first one only if it is asked to.
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.process),
            rustix::process::Signal::TERM,
        );
        let _ = self.process.wait();
    }
}
