//! Reports blobs that no row names, for `rebuild` and `check`.

use super::context::Context;
use super::failure::plain;
use serde_json::{Value, json};
use store::Orphans;

/// Most files in the text. `--json` has more.
const SHOWN_MAX: usize = 20;

/// As JSON.
pub(super) fn json(orphans: &Orphans) -> Value {
    let files: Vec<String> = orphans.files.iter().map(|file| file.display().to_string()).collect();
    json!({ "blobs": orphans.blobs, "size_bytes": orphans.size_bytes, "files": files })
}

/// As text, which is empty where there is no such blob.
pub(super) fn write(orphans: &Orphans, context: &mut Context<'_>) -> std::io::Result<()> {
    let Orphans { blobs, size_bytes, files } = orphans;
    if *blobs == 0 {
        return Ok(());
    }
    for file in files.iter().take(SHOWN_MAX) {
        writeln!(context.out, "no row names the blob `{}`", plain(&file.display().to_string()))?;
    }
    let more = blobs.saturating_sub(SHOWN_MAX as u64);
    if more > 0 {
        writeln!(context.out, "and {more} more; `--json` lists up to a thousand")?;
    }
    writeln!(
        context.out,
        "no row names {blobs} blobs of {size_bytes} bytes: they are uploads that were interrupted before they were acknowledged; \
         each file is an uploaded package and can be published again"
    )
}
