//! `daylight --version`: the version, and with `--json` all that tells two builds of the program apart.

use repository::Format;
use serde_json::json;
use std::io::{self, Write};
use std::sync::OnceLock;

/// The commit that the program was built from, if its builder said so: `make build` and `make dist` do.
const COMMIT: Option<&str> = option_env!("DAYLIGHT_COMMIT");
/// Parts of the program that every build has, besides the formats of repositories. A script asks for one of them where an earlier version
/// has none.
const FEATURES: &[&str] = &["acme", "front", "mcp"];

/// Whether the program needs no shared libraries. Only its own crate is compiled for that.
static IS_STATIC: OnceLock<bool> = OnceLock::new();

/// Notes once how the program was linked.
pub(super) fn linked(is_static: bool) {
    let _ = IS_STATIC.set(is_static);
}

/// Prints the version for people, as one line, or for programs.
pub(super) fn print(json: bool, out: &mut dyn Write) -> io::Result<()> {
    let (version, commit) = (env!("CARGO_PKG_VERSION"), COMMIT.filter(|commit| !commit.is_empty()));
    if json {
        let all = json!({
            "version": version,
            "commit": commit,
            "features": features(),
            "on_disk_form": { "layout": store::FORM, "database": store::TRUTH_FORM },
        });
        writeln!(out, "{all:#}")?;
    } else {
        let built = commit.map(|commit| format!(" ({commit})")).unwrap_or_default();
        writeln!(out, "daylight {version}{built}")?;
    }
    out.flush()
}

/// The features of this build, in the order of the alphabet.
fn features() -> Vec<&'static str> {
    // The web pages work without their scripts, and a build without Node.js has none.
    let scripts = web::has_scripts().then_some("scripts");
    let linked = IS_STATIC.get().is_some_and(|is_static| *is_static).then_some("static");
    let formats = Format::ALL.iter().map(|format| format.as_str());
    let mut features: Vec<&str> = FEATURES.iter().copied().chain(formats).chain(scripts).chain(linked).collect();
    features.sort_unstable();
    features
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(json: bool) -> String {
        let mut out = Vec::new();
        print(json, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn the_version_is_one_line_for_people_and_an_object_for_programs() {
        let line = printed(false);
        assert!(
            line.starts_with(concat!("daylight ", env!("CARGO_PKG_VERSION"))) && line.lines().count() == 1,
            "{line}"
        );
        let told: serde_json::Value = serde_json::from_str(&printed(true)).unwrap();
        let keys: Vec<&String> = told.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["commit", "features", "on_disk_form", "version"]);
        assert_eq!(told["version"], env!("CARGO_PKG_VERSION"));
        assert!(told["commit"].is_null() || told["commit"].as_str().is_some_and(|commit| !commit.is_empty()));
        let features: Vec<&str> =
            told["features"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
        assert!(features.is_sorted() && features.contains(&Format::ALL[0].as_str()), "{features:?}");
        assert_eq!(told["on_disk_form"], json!({ "layout": store::FORM, "database": store::TRUTH_FORM }));
    }
}
