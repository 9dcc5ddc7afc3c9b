//! The clock of a machine on which one server runs: a test sets it, and the clocks of the other servers stay right.

use super::World;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

/// The library that is loaded into the server.
fn library() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        // Another run of the tests may build it, too.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let [built, own] =
            ["".to_owned(), std::process::id().to_string()].map(|end| folder.join(format!("machine_clock{end}.so")));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/world/machine_clock.c");
        let mut cc = Command::new("cc");
        let ran =
            cc.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&own).arg(source).output().unwrap();
        assert!(ran.status.success(), "{ran:?}");
        std::fs::rename(&own, &built).unwrap();
        built
    })
}

impl World {
    /// Starts the program on an empty folder with this configuration file and these settings, on a machine with a clock of its own.
    pub(crate) fn start_on_own_machine(text: &str, settings: &'static [(&'static str, &'static str)]) -> Self {
        let mut world = Self { server: None, folder: TempDir::new().unwrap(), settings, flags: &[] };
        world.configure(text);
        world.set_machine_clock(0);
        world.resume();
        world
    }

    /// Sets that clock, so that it is ahead of the right time by these seconds. Negative: it is behind.
    pub(crate) fn set_machine_clock(&self, ahead_s: i64) {
        use std::io::Write as _;
        // The server has the file mapped, so it must stay the same one.
        let file = std::fs::File::options().create(true).truncate(false).write(true).open(self.machine_clock());
        file.unwrap().write_all(&ahead_s.to_ne_bytes()).unwrap();
    }

    fn machine_clock(&self) -> PathBuf {
        self.folder.path().join("clock")
    }

    /// What its programs need to see that clock, if it has one.
    pub(super) fn machine_variables(&self) -> Option<[(&'static str, String); 2]> {
        let clock = self.machine_clock();
        let text = |path: &Path| path.to_str().unwrap().to_owned();
        clock.exists().then(|| [("LD_PRELOAD", text(library())), ("MACHINE_CLOCK", text(&clock))])
    }
}
