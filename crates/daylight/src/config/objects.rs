//! The types of the settings of object storage.

use super::value::{UpstreamUrl, Value};

/// Longest prefix, in bytes: keys of objects have at most 1024, and S3Proxy takes no segment above 215.
const PREFIX_MAX: usize = 200;
/// Longest name of a region, in bytes.
const REGION_MAX: usize = 64;

/// Where objects are: a bucket, and the prefix of their keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bucket {
    /// The name of the bucket.
    pub name: String,
    /// The prefix, without a slash at either end. There is always one: objects of others in the bucket are never listed.
    pub prefix: String,
}

impl std::fmt::Display for Bucket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "s3://{}/{}", self.name, self.prefix)
    }
}

/// The place of objects, or none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjectsUrl(pub Option<Bucket>);

impl Value for ObjectsUrl {
    const EXPECTS: &'static str =
        "`s3://BUCKET/PREFIX`, such as `s3://packages/daylight`, with letters, digits, `.`, `_` and `-` in the names";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let (name, prefix) = text.strip_prefix("s3://")?.split_once('/')?;
        let prefix = prefix.trim_end_matches('/');
        let valid = is_bucket(name) && prefix.len() <= PREFIX_MAX && prefix.split('/').all(is_segment);
        valid.then(|| Self(Some(Bucket { name: name.to_owned(), prefix: prefix.to_owned() })))
    }

    fn json(&self) -> serde_json::Value {
        self.0.as_ref().map(Bucket::to_string).unwrap_or_default().into()
    }
}

/// Names of buckets have 3 to 63 lower-case letters, digits, hyphens and dots, and begin and end with a letter or a digit.
fn is_bucket(name: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let ends = |end: Option<u8>| end.is_some_and(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
    (3..=63).contains(&name.len()) && name.bytes().all(inside) && ends(name.bytes().next()) && ends(name.bytes().last())
}

/// A segment of a key that all servers store unchanged. `.` and `..` make lists fail.
fn is_segment(text: &str) -> bool {
    let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !text.is_empty() && text != "." && text != ".." && text.bytes().all(inside)
}

/// The URL of the server that has the bucket, without a slash at the end; none: Amazon's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EndpointUrl(pub Option<String>);

impl Value for EndpointUrl {
    const EXPECTS: &'static str = "a URL without credentials, such as `https://s3.example` or `http://127.0.0.1:8333`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        UpstreamUrl::parse(text).map(|UpstreamUrl(url)| Self(Some(url)))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().unwrap_or_default().into()
    }
}

/// The region of the bucket, which is a part of signatures.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Region(pub Option<String>);

impl Value for Region {
    const EXPECTS: &'static str = "the name of a region, such as `eu-central-1`";
    const QUOTED: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let inside = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let valid = !text.is_empty() && text.len() <= REGION_MAX && text.bytes().all(inside);
        valid.then(|| Self(Some(text.to_owned())))
    }

    fn json(&self) -> serde_json::Value {
        self.0.clone().unwrap_or_default().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_below_a_prefix_that_every_server_stores_unchanged() {
        let place = |text: &str| ObjectsUrl::parse(text).and_then(|url| url.0).map(|bucket| bucket.to_string());
        for (text, place_of) in
            [("s3://packages/daylight", "s3://packages/daylight"), ("s3://a.b-9/Team_1/x.y/", "s3://a.b-9/Team_1/x.y")]
        {
            assert_eq!(place(text).as_deref(), Some(place_of));
        }
        let long = format!("s3://packages/{}", "x".repeat(201));
        for wrong in [
            "packages/daylight",
            "s3://packages",
            "s3://packages/",
            "s3://pa/x",
            "s3://Packages/x",
            "s3://-packages/x",
            "s3://packages/a//b",
            "s3://packages/a/../b",
            "s3://packages/.",
            "s3://packages/ü",
            "s3://packages/a b",
            "s3://user:secret@packages/x",
            "https://packages/x",
            &long,
        ] {
            assert_eq!(place(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_endpoint_is_a_url_without_credentials() {
        assert_eq!(EndpointUrl::parse("http://127.0.0.1:8333/").unwrap().0.unwrap(), "http://127.0.0.1:8333");
        for wrong in ["127.0.0.1:8333", "s3://x", "https://key:secret@s3.example", "https://s3.example/?a=b"] {
            assert_eq!(EndpointUrl::parse(wrong), None, "{wrong}");
        }
        assert!(Region::parse("eu-central-1").is_some() && Region::parse("eu central").is_none());
    }
}
