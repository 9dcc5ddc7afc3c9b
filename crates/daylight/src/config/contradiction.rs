//! Finds settings that are valid alone and wrong together, at the start rather than under load.

use super::error::Error;
use super::keys::Settings;
use super::machine::Machine;
use super::shares::{
    CONNECTION_BYTES, CONNECTION_DESCRIPTORS, EVENT_BYTES, FILE_BUFFER_BYTES, FIXED_BYTES, READER_FIXED_BYTES,
    SMALL_BODY_BYTES, Shares, TAIL_BYTES, UPLOAD_BYTES,
};
use super::sources::{Entry, Origin};
use super::value::{AccessLog, JsonLines};
use crate::config::duration;
use front::ClientFrom;
use std::path::Path;

/// Shortest admin token, in bytes: it can do everything, and is stored as one plain hash.
const SECRET_MIN: usize = 16;

/// Refuses settings that cannot work. Returns a warning for each that will not work as intended.
pub(super) fn find(settings: &Settings, machine: &Machine) -> Result<Vec<String>, Error> {
    let Settings { server, store, telemetry, .. } = settings;
    let (pages, memory) = (server.pages_bytes >> 20, machine.memory_bytes >> 20);
    if server.pages_bytes > machine.memory_bytes {
        return Err(Error::Contradiction {
            text: format!("`server.pages_bytes` is {pages} MiB, more than the memory of {memory} MiB"),
            hint: "remove the setting: its default fits the memory".to_owned(),
        });
    }
    let kept = server.open_files.saturating_add(server.page_files);
    let fixed = Shares::fixed_descriptors(store.readers).saturating_add(kept);
    let needed = server.max_connections.saturating_mul(CONNECTION_DESCRIPTORS).saturating_add(fixed);
    if needed > machine.descriptors {
        let (connections, descriptors) = (server.max_connections, machine.descriptors);
        return Err(Error::Contradiction {
            text: format!(
                "`server.max_connections` is {connections} and needs {needed} file descriptors (a socket and a file each, and \
                 {fixed} for the rest), but this process may open {descriptors}"
            ),
            hint: "raise the limit (`ulimit -n`, `LimitNOFILE=`) or remove the setting".to_owned(),
        });
    }
    let (believed, trusted) = (server.client_from != ClientFrom::Connection, !server.trusted_proxies.0.is_empty());
    if believed && !trusted {
        return Err(Error::Contradiction {
            text: format!(
                "`server.client_from` is `{}`, but `server.trusted_proxies` is empty",
                server.client_from.as_str()
            ),
            hint: "list the addresses of your proxies in `server.trusted_proxies`: only they may name their clients"
                .to_owned(),
        });
    }
    let guessable =
        |secret: &str| secret.len() < SECRET_MIN || secret.contains(|c: char| c.is_whitespace() || c.is_control());
    if settings.admin_token.as_ref().is_some_and(|secret| guessable(secret.expose())) {
        return Err(Error::Contradiction {
            text: format!("`DAYLIGHT_ADMIN_TOKEN` has fewer than {SECRET_MIN} characters, or contains white space"),
            hint: "make one with `openssl rand -hex 32`, or remove the variable: the first start makes a token then"
                .to_owned(),
        });
    }
    if store.undo > store.horizon {
        let (undo, horizon) = (duration::show(store.undo), duration::show(store.horizon));
        return Err(Error::Contradiction {
            text: format!(
                "`store.undo` is {undo}, longer than `store.horizon`, which is {horizon}: bytes that are deleted cannot be restored"
            ),
            hint: "set `store.horizon` to at least `store.undo`".to_owned(),
        });
    }
    let mut warnings = Vec::new();
    if trusted && !believed {
        warnings.push("`server.trusted_proxies` has no effect while `server.client_from` is `connection`".to_owned());
    }
    let (bounds, budget) = (bounds_bytes(settings), Shares::budget(machine));
    if bounds > budget {
        warnings.push(format!(
            "the memory limits in the settings sum to {} MiB, more than half of the memory ({} MiB): a busy server may run out of memory",
            bounds >> 20,
            budget >> 20
        ));
    }
    if let Some(disk) = machine.disk_bytes.filter(|disk| store.cached_bytes > *disk) {
        warnings.push(format!(
            "`store.cached_bytes` is {} MiB, but the file system of the data folder has only {} MiB",
            store.cached_bytes >> 20,
            disk >> 20
        ));
    }
    if server.cores > machine.cores {
        warnings.push(format!(
            "`server.cores` is {}, but this process may use only {} cores: more threads make it slower",
            server.cores, machine.cores
        ));
    }
    if server.max_uploads > server.max_connections {
        warnings.push("`server.max_uploads` has no effect, because it is above `server.max_connections`".to_owned());
    }
    if telemetry.access_log == AccessLog::Off && telemetry.access_log_file != Path::new("-") {
        warnings.push("`telemetry.access_log_file` has no effect while `telemetry.access_log` is `off`".to_owned());
    }
    Ok(warnings)
}

/// Warnings about settings of the files of JSON lines while no such files are written.
pub(super) fn unused_json_lines(settings: &Settings, entries: &[Entry]) -> Vec<String> {
    if settings.telemetry.json_lines == JsonLines::On {
        return Vec::new();
    }
    let set = entries.iter().filter(|entry| entry.origin != Origin::Default);
    let of_files = set.filter(|entry| entry.key.starts_with("telemetry.json_lines_"));
    let why = "events are not written to files any more unless `telemetry.json_lines` is `on`";
    of_files.map(|entry| format!("`{}` has no effect: {why}", entry.key)).collect()
}

/// Warnings about settings of object storage without one.
pub(super) fn unused_of_objects(settings: &Settings, entries: &[Entry]) -> Vec<String> {
    if settings.store.objects.0.is_some() {
        return Vec::new();
    }
    let of_objects = ["store.endpoint", "store.region", "store.credentials", "store.local_bytes"];
    let set = entries.iter().filter(|entry| entry.origin != Origin::Default && of_objects.contains(&entry.key));
    set.map(|entry| format!("`{}` has no effect without `store.objects`", entry.key)).collect()
}

/// The memory that everything with a bound can take, in bytes.
pub(super) fn bounds_bytes(settings: &Settings) -> u64 {
    let Settings { server, store, upstream, telemetry, .. } = settings;
    [
        FIXED_BYTES,
        server.pages_bytes,
        server.indexes_bytes,
        server.dependencies_bytes,
        server.views_bytes,
        server.max_connections.saturating_mul(CONNECTION_BYTES),
        server.max_uploads.saturating_mul(UPLOAD_BYTES),
        server.max_forms.saturating_mul(SMALL_BODY_BYTES),
        server.file_buffers.saturating_mul(FILE_BUFFER_BYTES),
        (store.readers as u64).saturating_mul(store.reader_cache_bytes.saturating_add(READER_FIXED_BYTES)),
        server.folders_bytes,
        server.pushed_gems_bytes,
        store.known_folders_bytes,
        upstream.prefixes_bytes,
        telemetry.events_buffered.saturating_mul(EVENT_BYTES),
        telemetry.events_recent_bytes,
        telemetry.keep_memory_bytes,
        telemetry.ask_memory_bytes,
        server.max_tails.saturating_mul(TAIL_BYTES),
    ]
    .into_iter()
    .chain(settings.apps.iter().map(|app| app.options.cache_bytes))
    .fold(0, u64::saturating_add)
}
