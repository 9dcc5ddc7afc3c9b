//! A program of this machine that gets alerts as JSON on its standard input. It has a time limit and a process group of its own, which is killed
//! when the limit has passed or the server stops.

use client::Secret;
use rustix::fs::{MemfdFlags, OFlags, fcntl_getfl, fcntl_setfl, memfd_create};
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::time::Duration;
use telemetry::Tick;
use tokio::time::sleep;

/// How often it is looked whether the program has ended.
const LOOK: Duration = Duration::from_millis(20);
/// The most bytes of its standard error that are kept: the first ones.
const SAID_MAX: usize = 2 << 10;

/// Why a program did not take alerts.
#[derive(Debug, thiserror::Error)]
pub(super) enum CommandError {
    #[error("`{program}` cannot be run: {cause}")]
    NotRun { program: String, cause: io::Error },
    #[error("`{program}` had not ended after {} s, and was killed", limit.as_secs())]
    TooSlow { program: String, limit: Duration },
    #[error("`{program}` ended with {}{}", ending(*status), said(text))]
    Failed { program: String, status: ExitStatus, text: String },
}

/// Runs a program with its arguments in this environment, and waits until it has ended well. What it writes to its standard output is dropped.
pub(super) async fn run(
    command: &[String],
    environment: &[(String, Secret)],
    input: &str,
    limit: Duration,
) -> Result<(), CommandError> {
    let (program, arguments) = command.split_first().map_or(("", command), |(program, rest)| (program.as_str(), rest));
    let not_run = |cause| CommandError::NotRun { program: program.to_owned(), cause };
    let mut start = Command::new(program);
    // The environment of the server has secrets of others.
    start
        .env_clear()
        .envs(environment.iter().map(|(name, value)| (name, value.expose())))
        .args(arguments)
        .stdin(file(input).map_err(not_run)?)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0);
    let mut running = Running { child: Some(start.spawn().map_err(not_run)?) };
    let Some(child) = running.child.as_mut() else { return Ok(()) };
    let (mut pipe, mut text) = (child.stderr.take().filter(|pipe| never_waits(pipe).is_ok()), Vec::new());
    let ends = Tick::now().plus(limit);
    loop {
        if let Some(pipe) = &mut pipe {
            drain(pipe, &mut text);
        }
        if let Some(status) = child.try_wait().map_err(not_run)? {
            running.child = None;
            if status.success() {
                return Ok(());
            }
            // What it wrote last may have come meanwhile.
            pipe.iter_mut().for_each(|pipe| drain(pipe, &mut text));
            let text = String::from_utf8_lossy(&text).into_owned();
            return Err(CommandError::Failed { program: program.to_owned(), status, text });
        }
        if Tick::now() >= ends {
            return Err(CommandError::TooSlow { program: program.to_owned(), limit });
        }
        sleep(LOOK).await;
    }
}

/// A program that runs. Dropping it kills the program with its process group.
struct Running {
    child: Option<Child>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let Some(mut child) = self.child.take() else { return };
        let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        // It may have ended by itself.
        let _ = group.map(|group| kill_process_group(group, Signal::KILL));
        let _ = child.wait();
    }
}

/// The input as a file without a name, which the program reads at its own pace.
fn file(input: &str) -> io::Result<File> {
    let mut file = File::from(memfd_create("alerts", MemfdFlags::CLOEXEC)?);
    file.write_all(input.as_bytes())?;
    file.rewind()?;
    Ok(file)
}

fn never_waits(pipe: &ChildStderr) -> io::Result<()> {
    fcntl_setfl(pipe, fcntl_getfl(pipe)? | OFlags::NONBLOCK)?;
    Ok(())
}

/// Reads the bytes that have come, and keeps the first ones. At most some pieces in a row, so that a program that writes without end does not hold the thread.
fn drain(pipe: &mut ChildStderr, text: &mut Vec<u8>) {
    let mut piece = [0; 4096];
    for _ in 0..16 {
        match pipe.read(&mut piece) {
            Ok(read) if read > 0 => {
                let room = SAID_MAX.saturating_sub(text.len()).min(read);
                text.extend_from_slice(piece.get(..room).unwrap_or_default());
            }
            // Nothing is there, or nothing will come.
            _ => return,
        }
    }
}

fn ending(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("the exit code {code}"),
        (None, Some(signal)) => format!("the signal {signal}"),
        (None, None) => "an unknown status".to_owned(),
    }
}

fn said(text: &str) -> String {
    let text = telemetry::Event::text(text.trim());
    if text.is_empty() { text } else { format!(": {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(line: &str, input: &str, limit: Duration) -> Result<(), String> {
        let command = ["sh", "-c", line].map(str::to_owned);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(&command, &[], input, limit)).map_err(|error| error.to_string())
    }

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn a_program_reads_its_input_and_its_failure_is_told_with_what_it_said() {
        let large = "x".repeat(1 << 20);
        assert_eq!(shell("test \"$(wc -c)\" = 1048576", &large, LONG), Ok(()));
        assert_eq!(shell("exit 0", &large, LONG), Ok(()), "it reads nothing");
        let environment = "test -z \"$HOME$CARGO_MANIFEST_DIR\"";
        assert_eq!(shell(environment, "", LONG), Ok(()), "it gets the variables that it is given, and no others");
        assert_eq!(
            shell("echo no such room >&2; exit 3", "", LONG).unwrap_err(),
            "`sh` ended with the exit code 3: no such room"
        );
        assert_eq!(shell("kill -9 $$", "", LONG).unwrap_err(), "`sh` ended with the signal 9");
    }

    #[test]
    fn a_program_that_writes_without_end_is_killed_with_its_children() {
        let folder = tempfile::tempdir().unwrap();
        let child = folder.path().join("child");
        // The child writes nothing, so that only the end of its group ends it.
        let line = format!("sh -c 'echo $$ > {}; exec sleep 1000 2>/dev/null' & yes >&2; wait", child.display());
        let why = shell(&line, "", Duration::from_secs(2)).unwrap_err();
        assert_eq!(why, "`sh` had not ended after 2 s, and was killed");
        let id = std::fs::read_to_string(child).unwrap();
        // One that has ended may wait for the process that asks how.
        let runs = || {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
            stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
        };
        let is_gone = (0..1_000_000).any(|_| {
            std::thread::yield_now();
            !runs()
        });
        assert!(is_gone, "the child {id} still runs");
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let said = runtime.block_on(run(&["/nowhere/tell".to_owned()], &[], "", LONG)).unwrap_err().to_string();
        assert!(said.starts_with("`/nowhere/tell` cannot be run: "), "{said}");
    }
}
