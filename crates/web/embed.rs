//! Embeds the scripts where they are built. The build script calls it, and the tests of the crate do.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::Hasher as _;
use std::io::{self, ErrorKind};
use std::path::Path;

/// Most bytes of all scripts.
const SCRIPTS_MAX: usize = 100 << 10;

/// Writes `script.rs` into the folder `out`: the asset with the scripts of `built`, or none if there is no such file. A program without
/// scripts is complete.
#[expect(clippy::disallowed_methods, reason = "files of the build, not of a data folder")]
pub(crate) fn embed(built: &Path, out: &Path) -> io::Result<()> {
    let content = match fs::read(built) {
        Ok(content) => content,
        Err(error) if error.kind() == ErrorKind::NotFound => return fs::write(out.join("script.rs"), "None"),
        Err(error) => return Err(error),
    };
    if content.len() > SCRIPTS_MAX {
        let message = format!("{}: {} bytes, more than {SCRIPTS_MAX}", built.display(), content.len());
        return Err(io::Error::other(message));
    }
    let asset = format!(
        "Some(Asset {{ name: \"script-{:016x}.js\", media: \"text/javascript; charset=utf-8\", \
         content: include_bytes!(concat!(env!(\"OUT_DIR\"), \"/script.js\")) }})",
        hash(&content)
    );
    fs::write(out.join("script.js"), content)?;
    fs::write(out.join("script.rs"), asset)
}

/// The part of an asset's name that changes with its content.
pub(crate) fn hash(content: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(content);
    hasher.finish()
}
