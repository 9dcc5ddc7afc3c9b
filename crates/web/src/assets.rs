//! The stylesheet, inside the program.

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

/// The asset of that name.
pub fn asset(name: &str) -> Option<Asset> {
    [STYLE].into_iter().find(|asset| asset.name == name)
}
