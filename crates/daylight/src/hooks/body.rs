//! Parses the body of a hook in all accepted forms: that of RubyGems, that of the Bundler API, and a plain one.

use repository::Announcement;
use serde::Deserialize;
use telemetry::{Event, Millis};

/// Maximum length of a name in the body, in bytes.
const TEXT_MAX: usize = 1_024;

/// The announcement in a hook. Every field may be missing.
#[derive(Clone, Default, Deserialize)]
#[serde(default, expecting = "an object")]
pub struct HookBody {
    pub(super) name: Option<String>,
    pub(super) version: Option<String>,
    platform: Option<String>,
    yanked: Option<bool>,
    group: Option<String>,
    artifact: Option<String>,
    path: Option<String>,
    version_created_at: Option<String>,
    pub(super) rubygems_token: Option<String>,
}

impl std::fmt::Debug for HookBody {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, version, platform, group, artifact, path, .. } = self;
        write!(f, "HookBody({name:?} {version:?} {platform:?} {group:?} {artifact:?} {path:?})")
    }
}

impl HookBody {
    /// Parses a body, which may be empty. An error is a sentence for the sender.
    pub fn read(body: &[u8]) -> Result<Self, String> {
        if body.trim_ascii().is_empty() {
            return Ok(Self::default());
        }
        // Serde would also accept a list of the fields for a struct.
        if body.trim_ascii_start().first() != Some(&b'{') {
            return Err("the body is neither a JSON object nor empty".to_owned());
        }
        let hook: Self = serde_json::from_slice(body)
            .map_err(|error| format!("the body is not a hook: {}", Event::text(&error.to_string())))?;
        let Self { name, version, platform, group, artifact, path, .. } = &hook;
        for text in [name, version, platform, group, artifact, path].into_iter().flatten() {
            if text.len() > TEXT_MAX || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
                return Err(format!("the body names something that cannot be: `{}`", Event::text(text)));
            }
        }
        match group.is_some() == artifact.is_some() {
            true => Ok(hook),
            false => Err("the body names `group` and `artifact` together, or neither".to_owned()),
        }
    }

    /// Whether it names nothing that may have changed.
    pub(crate) fn names_nothing(&self) -> bool {
        let Self { name, group, path, .. } = self;
        name.is_none() && group.is_none() && path.is_none()
    }

    /// The announced change. `gone`: the URL says that the package was withdrawn.
    pub fn announcement(self, gone: bool) -> Announcement {
        let filled = |text: Option<String>| text.filter(|text| !text.is_empty());
        let of_artifact = self.group.zip(self.artifact).map(|(group, artifact)| format!("{group}:{artifact}"));
        let moment: Option<jiff::Timestamp> = self.version_created_at.and_then(|text| text.parse().ok());
        let package = of_artifact.or_else(|| filled(self.name));
        let path = filled(self.path);
        let names = package.is_some() || path.is_some();
        Announcement {
            // A version without a package means nothing.
            version: filled(self.version).filter(|_| names),
            platform: filled(self.platform).filter(|_| names),
            package,
            path,
            gone: gone || self.yanked == Some(true),
            published: moment.filter(|_| self.yanked != Some(true)).map(|at| Millis(at.as_millisecond())),
            recent: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Announcement {
        HookBody::read(body.as_bytes()).unwrap().announcement(false)
    }

    #[test]
    fn each_form_is_read() {
        let text = |text: &str| Some(text.to_owned());
        let rubygems = r#"{"name": "lamp", "version": "1.0", "platform": "java", "yanked": false, "downloads": 3,
            "version_created_at": "2026-11-01T12:00:00.000Z", "dependencies": {"runtime": []}}"#;
        let published = Some(Millis(1_793_534_400_000));
        let expected = Announcement {
            package: text("lamp"),
            version: text("1.0"),
            platform: text("java"),
            published,
            ..Announcement::default()
        };
        assert_eq!(read(rubygems), expected);
        let yanked = read(&rubygems.replace("false", "true"));
        assert_eq!((yanked.gone, yanked.published), (true, None));
        let maven = read(r#"{"group": "org.example", "artifact": "lamp", "version": "1.0"}"#);
        assert_eq!((maven.package, maven.version), (text("org.example:lamp"), text("1.0")));
        assert_eq!(read(r#"{"path": "org/example"}"#).path, text("org/example"));
        for nothing in ["", " \n", "{}", r#"{"repository": {"name": "x"}}"#, r#"{"version": "1", "name": ""}"#] {
            assert_eq!(read(nothing), Announcement::default(), "{nothing}");
        }
    }

    #[test]
    fn what_is_no_hook_is_refused() {
        let long = format!(r#"{{"name": "{}"}}"#, "x".repeat(TEXT_MAX + 1));
        for odd in ["x", "[]", "3", "{", r#"{"name": 3}"#, r#"{"name": "a\nb"}"#, r#"{"group": "a"}"#, &long] {
            assert!(HookBody::read(odd.as_bytes()).is_err(), "{odd}");
        }
    }

    #[test]
    fn the_token_in_a_body_is_not_printed() {
        let hook = HookBody::read(br#"{"name": "a", "rubygems_token": "hush"}"#).unwrap();
        assert!(!format!("{hook:?}").contains("hush"));
    }
}
