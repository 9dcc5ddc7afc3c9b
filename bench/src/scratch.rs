//! The folder for all files of a run. It is removed with the run, even if the run is interrupted.

use crate::process::children;
use anyhow::{Result, anyhow};
use rustix::process::{Signal, kill_process};
use std::fs;
use std::future::poll_fn;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::task::Poll;
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code after an interrupt.
const INTERRUPTED: i32 = 130;
/// How long child processes may take to end after SIGTERM.
const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Makes the folder, and lets every temporary folder of this process be made in it.
pub(crate) fn open() -> Result<TempDir> {
    let scratch = tempfile::Builder::new().prefix("daylight-bench-").tempdir()?;
    // If root starts nginx, its workers run as another user.
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755))?;
    let within = scratch.path().to_owned();
    tempfile::env::override_temp_dir(&within)
        .map_err(|other| anyhow!("the temporary folder is already `{}`", other.display()))?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = {
        let _within = runtime.enter();
        [signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?]
    };
    std::thread::Builder::new().name("interrupted".to_owned()).spawn(move || {
        runtime.block_on(poll_fn(|cx| {
            let told = signals.iter_mut().any(|signal| signal.poll_recv(cx).is_ready());
            if told { Poll::Ready(()) } else { Poll::Pending }
        }));
        interrupted(&within)
    })?;
    Ok(scratch)
}

#[expect(clippy::exit, reason = "rows continue to measure until their process ends")]
fn interrupted(scratch: &Path) -> ! {
    clear(scratch);
    std::process::exit(INTERRUPTED)
}

/// Ends the child processes, and removes all files of the run.
fn clear(scratch: &Path) {
    let children = children().unwrap_or_default();
    for child in &children {
        // The process may have ended already.
        let _ = kill_process(*child, Signal::TERM);
    }
    let began = Instant::now();
    while began.elapsed() < TIME_LIMIT {
        let ended = children.iter().all(|child| {
            let stat = fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero())).unwrap_or_default();
            // These have ended, and are zombies.
            stat.rsplit_once(") ").is_none_or(|(_, fields)| fields.starts_with('Z'))
        });
        if ended && fs::remove_dir_all(scratch).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    eprintln!("cannot remove `{}`", scratch.display());
}
