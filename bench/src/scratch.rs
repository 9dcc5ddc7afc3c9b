//! The folder for all that a run writes. It goes with the run, also when that is interrupted.

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

/// What a shell says of who was interrupted.
const INTERRUPTED: i32 = 130;
/// For what we started to end, when it is asked to.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes it, and has every temporary folder of this process made in it.
pub(crate) fn open() -> Result<TempDir> {
    let scratch = tempfile::Builder::new().prefix("daylight-bench-").tempdir()?;
    // nginx's workers are somebody else when started by root.
    fs::set_permissions(scratch.path(), fs::Permissions::from_mode(0o755))?;
    let within = scratch.path().to_owned();
    tempfile::env::override_temp_dir(&within).map_err(|other| anyhow!("`{}` was chosen before", other.display()))?;
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

#[expect(clippy::exit, reason = "a row measures on until its process ends")]
fn interrupted(scratch: &Path) -> ! {
    clear(scratch);
    std::process::exit(INTERRUPTED)
}

/// Ends what we started, and removes what it and we have written.
fn clear(scratch: &Path) {
    let children = children().unwrap_or_default();
    for child in &children {
        // Who has ended already is done.
        let _ = kill_process(*child, Signal::TERM);
    }
    let began = Instant::now();
    while began.elapsed() < PATIENCE {
        let ended = children.iter().all(|child| {
            let stat = fs::read_to_string(format!("/proc/{}/stat", child.as_raw_nonzero())).unwrap_or_default();
            // Nobody waits for them any more.
            stat.rsplit_once(") ").is_none_or(|(_, fields)| fields.starts_with('Z'))
        });
        if ended && fs::remove_dir_all(scratch).is_ok() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    eprintln!("`{}` is left behind", scratch.display());
}
