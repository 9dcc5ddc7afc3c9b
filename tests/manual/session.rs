//! The shell in which the blocks of a page run, one after the other: variables and the current folder go from one to the next.

use super::shims;
use super::stage::{CALLS, STATE, Stage};
use crate::world::{ADMIN, Said};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// Takes up where the block before ended, and writes down where this one ends.
const SCRIPT: &str = r#"
set -euo pipefail -a
if [ -e "$STATE" ]; then . "$STATE"; cd "$(cat "$STATE.folder")"; fi
trap 'export -p >"$STATE"; pwd >"$STATE.folder"' EXIT
export DAYLIGHT_SERVER="http://$ADDRESS"
exec 2>&1
"#;

/// Answers prompts on a terminal.
const TERMINAL: &str = r"
require 'pty'; require 'expect'; $expect_verbose = true
out, into, pid = PTY.spawn('bash', '-c', ARGV.shift)
ARGV.each_slice(2) { |prompt, answer| out.expect(prompt, 60) or abort(%(no prompt #{prompt})); into.puts answer }
begin; loop { print out.readpartial(4096) }; rescue EOFError, Errno::EIO; end
Process.wait(pid); exit($?.exitstatus)
";

/// A person's shell.
pub(super) struct Session {
    home: PathBuf,
    state: PathBuf,
}

impl Session {
    /// A fresh one, in the home of the stage.
    pub(super) fn open(stage: &Stage) -> Self {
        let home = stage.home().to_owned();
        shims::write(&home, &home.join(CALLS));
        Self { state: home.join(STATE), home }
    }

    /// A new terminal: in the home folder again. Variables stay, as people export them once.
    pub(super) fn go_home(&self) {
        if self.state.exists() {
            fs::write(self.state.with_extension("folder"), self.home.to_str().unwrap()).unwrap();
        }
    }

    /// Runs lines of shell, to the first that fails; on a terminal where there are answers to give.
    pub(super) fn run(&self, stage: &Stage, lines: &str, answers: Option<&[(String, String)]>) -> Said {
        let script = SCRIPT.replace("$ADDRESS", stage.address()) + lines;
        let mut command = match answers {
            None => {
                let mut shell = Command::new("bash");
                shell.args(["-c", &script]);
                shell
            }
            Some(answers) => {
                let mut terminal = Command::new("ruby");
                terminal.args(["-e", TERMINAL, &script]);
                terminal.args(answers.iter().flat_map(|(prompt, answer)| [prompt, answer]));
                terminal
            }
        };
        self.environment(&mut command);
        command.output().unwrap().into()
    }

    fn environment(&self, command: &mut Command) {
        let home = self.home.as_path();
        let java = format!("-Duser.home={} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC", home.display());
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", shims::folder(home).display());
        command
            .current_dir(home)
            .env_clear()
            .env("HOME", home)
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("STATE", &self.state)
            .env("DAYLIGHT_TOKEN", ADMIN)
            .env("GEM_HOME", home.join("gems"))
            .env("BUNDLE_SILENCE_ROOT_WARNING", "1")
            .env("MAVEN_SKIP_RC", "1")
            .env("MAVEN_OPTS", java)
            .env("no_proxy", "127.0.0.1");
    }
}
