//! Names each asset by its content, so that browsers may keep it without limit.

use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher as _;

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=assets/style.css");
    let mut hasher = DefaultHasher::new();
    hasher.write(&std::fs::read("assets/style.css")?);
    println!("cargo::rustc-env=WEB_STYLE_HASH={:016x}", hasher.finish());
    Ok(())
}
