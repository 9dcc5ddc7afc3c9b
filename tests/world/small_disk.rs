//! A file system of a fixed size in memory, which only the programs that are started on it see.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Makes it, and keeps it until the standard input ends.
const MAKE: &str = "mount -t tmpfs -o size=\"$1\",mode=700 none \"$0\"; echo made; exec cat";
/// Runs a program in a folder there.
const RUN: &str = "cd \"$0\"; exec \"$@\"";
/// The pieces in which it is filled: one that does not fit is left out, so it ends full up to a page.
const PIECES: [usize; 2] = [1 << 16, 1 << 12];

/// The file system. Dropping it removes it, once the programs on it have ended.
pub(crate) struct SmallDisk {
    /// The process to which it belongs.
    keeper: Child,
    folder: PathBuf,
}

impl SmallDisk {
    /// Makes one at this folder, which is empty.
    pub(crate) fn at(folder: &Path, bytes: u64) -> Self {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-euc", MAKE]).arg(folder).arg(bytes.to_string());
        // The search path of the program that makes it.
        command.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        let mut keeper = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "made\n");
        Self { keeper, folder: folder.to_owned() }
    }

    /// The same program with the same arguments and variables, on it.
    pub(crate) fn on(&self, command: &Command) -> Command {
        let mut on = Command::new("nsenter");
        on.args(["--user", "--mount", "--target", &self.keeper.id().to_string(), "sh", "-euc", RUN]);
        on.arg(command.get_current_dir().unwrap_or_else(|| Path::new("/")))
            .arg(command.get_program())
            .args(command.get_args());
        on.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        on.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").stdin(Stdio::null());
        on
    }

    /// The folder, as other programs see it.
    pub(crate) fn outside(&self) -> PathBuf {
        let root = PathBuf::from(format!("/proc/{}/root", self.keeper.id()));
        root.join(self.folder.strip_prefix("/").unwrap())
    }

    /// Fills it up with a file.
    pub(crate) fn fill(&self) {
        let mut file = File::create(self.ballast()).unwrap();
        PIECES.iter().for_each(|bytes| while file.write_all(&vec![0; *bytes]).is_ok() {});
    }

    /// Removes that file.
    pub(crate) fn empty(&self) {
        std::fs::remove_file(self.ballast()).unwrap();
    }

    fn ballast(&self) -> PathBuf {
        self.outside().join("ballast")
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}
