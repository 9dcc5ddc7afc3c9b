//! Blobs that no row names, as `rebuild` and `check` tell of them.

use super::Context;
use super::failure::plain;
use serde_json::{Value, json};
use store::Unnamed;

/// Files that are named to people. `--json` has more.
const SHOWN_MAX: usize = 20;

/// For programs.
pub(super) fn json(unnamed: &Unnamed) -> Value {
    let files: Vec<String> = unnamed.files.iter().map(|file| file.display().to_string()).collect();
    json!({ "blobs": unnamed.blobs, "size_bytes": unnamed.size_bytes, "files": files })
}

/// For people: nothing where there is none.
pub(super) fn tell(unnamed: &Unnamed, context: &mut Context<'_>) -> std::io::Result<()> {
    let Unnamed { blobs, size_bytes, files } = unnamed;
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
        "no row names {blobs} blobs of {size_bytes} bytes: if the truth database was lost, packages of the last second before \
         that are among them; each file is a package as it was uploaded, and can be published again"
    )
}
