//! PostgreSQL as Debian has it, which syncs what it commits, and the questions to it.

use crate::process::{Server, free_port, when_it_answers};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The programs of the release that `scripts/setup bench` installs.
const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
const USER: &str = "daylight";
/// Statements are counted. All other settings are its defaults.
const SETTINGS: &str = "unix_socket_directories = ''\nlisten_addresses = '127.0.0.1'\n\
                        shared_preload_libraries = 'pg_stat_statements'\n";

/// A server. Ended when dropped.
pub(crate) struct Database {
    pub(crate) server: Server,
    folder: PathBuf,
    port: u16,
}

impl Database {
    /// Starts an empty one.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        let (folder, port) = (folder.join("postgresql"), free_port()?);
        fs::create_dir(&folder)?;
        let init = ["--pgdata=data", "--auth=trust", "--encoding=UTF8", "--locale=C", "--username", USER];
        answer(program("initdb", &folder).args(init))?;
        let file = folder.join("data/postgresql.conf");
        fs::write(&file, fs::read_to_string(&file)? + SETTINGS)?;
        println!("postgresql.conf, besides the defaults:\n{SETTINGS}");
        let mut command = program("postgres", &folder);
        command.args(["-D", "data", "-p", &port.to_string()]);
        let server = Server::peer(command, "PostgreSQL", port, &folder)?;
        let database = Self { server, folder, port };
        when_it_answers(|| database.ask("postgres", "SELECT 1"))?;
        Ok(database)
    }

    /// Makes a database. Returns the settings of a server of packages on it.
    pub(crate) fn settings(&self, name: &str) -> Result<Vec<(&'static str, String)>> {
        self.ask("postgres", &format!("CREATE DATABASE {name}"))?;
        self.ask(name, "CREATE EXTENSION pg_stat_statements")?;
        Ok(vec![("DAYLIGHT_CLUSTER_DATABASE", format!("postgres://127.0.0.1:{}/{name}", self.port))])
    }

    /// What it has done for one database: statements that were sent, bytes of the write-ahead log of all databases, bytes of the rows of the
    /// journal, and bytes that are stored of these.
    pub(super) fn work(&self, name: &str) -> Result<[f64; 4]> {
        let statement = "SELECT (SELECT sum(calls) FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%' AND dbid = \
                         (SELECT oid FROM pg_database WHERE datname = current_database())), \
                         pg_current_wal_insert_lsn() - '0/0', (SELECT sum(octet_length(body)) FROM daylight.journal), \
                         pg_total_relation_size('daylight.journal')";
        let said = self.ask(name, statement)?;
        let figures = said.split('|').map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        figures.try_into().ok().with_context(|| said)
    }

    /// The version that it says it has.
    pub(crate) fn version(&self) -> Result<String> {
        Ok(format!("PostgreSQL {}", self.ask("postgres", "SHOW server_version")?))
    }

    fn ask(&self, database: &str, statement: &str) -> Result<String> {
        let mut psql = program("psql", &self.folder);
        psql.args(["-XqAt", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-p", &self.port.to_string(), "-U", USER]);
        answer(psql.args(["-d", database, "-c", statement]))
    }
}

fn program(name: &str, folder: &Path) -> Command {
    let program = Path::new(PROGRAMS).join(name);
    let mut command = match rustix::process::getuid().is_root() {
        // PostgreSQL refuses to run as root. In a namespace of its own, root has another number, and the same files.
        true => {
            let mut command = Command::new("unshare");
            command.args(["--user", "--map-user=1000", "--map-group=1000"]).arg(program);
            command
        }
        false => Command::new(program),
    };
    command.current_dir(folder).env_clear().env("LC_ALL", "C");
    command
}

fn answer(command: &mut Command) -> Result<String> {
    let ran = command.stdin(Stdio::null()).output().with_context(|| format!("running {command:?}"))?;
    ensure!(ran.status.success(), "{command:?}: {}", String::from_utf8_lossy(&ran.stderr));
    Ok(String::from_utf8(ran.stdout)?.trim_end().to_owned())
}
