//! Replacements for programs that cannot run in a test. Each records its arguments, and checks them as far as possible.

use super::page::root;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Name, what stands in, and why the real program cannot run here.
const SHIMS: [(&str, &str, &str); 7] = [
    (
        "make",
        "/usr/bin/make --directory \"$ROOT\" --dry-run \"$@\" >/dev/null; [ \"$1\" != run ] || exec daylight serve",
        "it would build this tree within its own test; what `make run` starts, is started",
    ),
    (
        "sudo",
        "while [ \"${1#-}\" != \"$1\" ]; do [ \"$1\" = -u ] && shift; shift; done; exec \"$@\"",
        "a test has no other user",
    ),
    (
        "systemctl",
        "case \"$1\" in daemon-reload|enable|start|stop|restart|reload|status|disable|show|is-active) ;; *) exit 64 ;; esac",
        "there is no systemd here",
    ),
    ("journalctl", "true", "there is no systemd here"),
    ("apt-get", "case \"$1\" in update|install) ;; *) exit 64 ;; esac", "a test installs nothing"),
    ("useradd", "true", "a test makes no user"),
    ("chown", "true", "a test has no other user"),
];

/// A server that a page starts is stopped as soon as it listens, on any port; whatever else the program does, it does. A front has another
/// port for its admin page, which it names last.
const DAYLIGHT: &str = r#"
case "${1-}:$*" in
  serve:*) ports=(--listen 127.0.0.1:0) last="listening on " ;;
  front:*" purge "* | front:*" --check"*) exec "$REAL" "$@" ;;
  front:*) ports=(--listen 127.0.0.1:0 --admin 127.0.0.1:0) last="admin page on " ;;
  *) exec "$REAL" "$@" ;;
esac
export DAYLIGHT_UPSTREAM_RUBYGEMS="${DAYLIGHT_UPSTREAM_RUBYGEMS-none}"
verb=$1
arguments=("$1" "${ports[@]}")
shift
while [ $# -gt 0 ]; do
  case "$1" in
    --) arguments+=("$@"); break ;;
    --listen | --admin) shift ;;
    *) arguments+=("$1") ;;
  esac
  shift
done
coproc SERVER { exec "$REAL" "${arguments[@]}" 2>&1; }
server=$SERVER_PID
exec 3<&"${SERVER[0]}"
ends=
while true; do
  if read -r -t 2 line <&3; then
    printf '%s\n' "$line"
    case "$line" in "$last"*) ends=1; kill -TERM "$server" ;; esac
  elif [ $? -gt 128 ]; then
    # Puma 5 loses a signal while it starts.
    [ -z "$ends" ] || kill -TERM "$server" || true
  else
    break
  fi
done
# The code of a front is that of its command, which had no time to start.
code=0
wait "$server" || code=$?
[ "$verb:$ends" = front:1 ] || exit "$code"
"#;

/// Where they are, in a home, for the front of `PATH`.
pub(super) fn folder(home: &Path) -> PathBuf {
    home.join(".shims")
}

/// Where `daylight` is, in a home.
pub(super) fn daylight(home: &Path) -> PathBuf {
    folder(home).join("daylight")
}

/// Writes the programs into a home. They write their calls into the file `calls`.
pub(super) fn write(home: &Path, calls: &Path) {
    let folder = folder(home);
    fs::create_dir_all(&folder).unwrap();
    let real = PathBuf::from(env!("CARGO_BIN_EXE_daylight"));
    let head = format!("#!/bin/bash\nset -eu\nROOT='{}' REAL='{}'\n", root().display(), real.display());
    let note = format!("printf '%s\\n' \"${{0##*/}} $*\" >>'{}'\n", calls.display());
    for (name, text, _) in SHIMS {
        program(&folder.join(name), &format!("{head}{note}{text}\n"));
    }
    program(&daylight(home), &format!("{head}{DAYLIGHT}"));
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}
