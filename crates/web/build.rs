//! Names each asset by its content, so that browsers may keep it without limit, and embeds the scripts where they are built.

mod embed;

use std::path::Path;
use std::{env, fs, io};

#[expect(clippy::disallowed_methods, reason = "cargo passes the folder in the environment")]
fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=assets/style.css");
    // The folder, as the file is absent where Node.js is.
    println!("cargo::rerun-if-changed=../../web");
    println!("cargo::rustc-env=WEB_STYLE_HASH={:016x}", embed::hash(&fs::read("assets/style.css")?));
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets no OUT_DIR"))?;
    let built = Path::new("../../web/dist/daylight.js");
    if !built.exists() {
        println!(
            "cargo::warning=web pages get no scripts, as web/dist/daylight.js is not there: `scripts/web` builds it, before cargo"
        );
    }
    embed::embed(built, Path::new(&out))
}
