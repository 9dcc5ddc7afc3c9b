//! The stylesheet and the scripts, inside the program.

/// What browsers may do with a page: use the stylesheet and the scripts of this server, send forms to it, and nothing else. A page
/// inside a frame, or content of another server, is never shown.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// A file that pages refer to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    /// The last segment of its URL. It contains a hash of the content, so that a browser may keep the file without limit.
    pub name: &'static str,
    /// The media type.
    pub media: &'static str,
    /// The content.
    pub content: &'static [u8],
}

/// The stylesheet.
pub(crate) const STYLE: Asset = Asset {
    name: concat!("style-", env!("WEB_STYLE_HASH"), ".css"),
    media: "text/css; charset=utf-8",
    content: include_bytes!("../assets/style.css"),
};

/// The scripts. `None`: Node.js was absent when the program was built.
pub(crate) const SCRIPT: Option<Asset> = include!(concat!(env!("OUT_DIR"), "/script.rs"));

/// Whether the program was built with the scripts.
pub fn has_scripts() -> bool {
    SCRIPT.is_some()
}

/// The asset of that name.
pub fn asset(name: &str) -> Option<Asset> {
    [Some(STYLE), SCRIPT].into_iter().flatten().find(|asset| asset.name == name)
}

#[cfg(test)]
#[path = "../embed.rs"]
mod embed;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "files of a build")]
    fn scripts_are_embedded_where_they_are_built_and_a_program_without_them_is_complete() {
        let folder = std::env::temp_dir().join(format!("daylight-web-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (built, made) = (folder.join("built.js"), folder.join("script.rs"));
        embed::embed(&built, &folder).unwrap();
        assert_eq!(fs::read_to_string(&made).unwrap(), "None");
        fs::write(&built, "1;").unwrap();
        embed::embed(&built, &folder).unwrap();
        let asset = fs::read_to_string(&made).unwrap();
        assert!(asset.starts_with("Some(Asset {") && asset.contains("text/javascript"), "{asset}");
        assert_eq!(fs::read_to_string(folder.join("script.js")).unwrap(), "1;");
        fs::write(&built, "1;2;").unwrap();
        embed::embed(&built, &folder).unwrap();
        assert_ne!(fs::read_to_string(&made).unwrap(), asset, "another content has another name");
        fs::write(&built, "1".repeat(100 << 10 | 1)).unwrap();
        assert!(embed::embed(&built, &folder).unwrap_err().to_string().contains("more than 102400"));
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn every_asset_is_found_by_its_name() {
        for one in [Some(STYLE), SCRIPT].into_iter().flatten() {
            assert_eq!(asset(one.name), Some(one));
        }
        assert_eq!(asset("style.css"), None);
    }
}
