//! What a path below `api/` asks for: accounts, owners, and what is known of gems, for programs.

use super::name::{MAX, plain};

/// How an answer is written. Clients say so by the ending of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// No ending: a text for people, or for clients that want one value.
    Text,
    /// `.json`.
    Json,
    /// `.yaml`.
    Yaml,
}

/// A call of the API that gem servers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<'a> {
    /// The keys of an account: `gem signin`.
    Key,
    /// Whose account it is.
    Profile,
    /// A security device instead of a code.
    Device,
    /// Calls to others when something is pushed.
    Hooks,
    /// The owners of a gem: `gem owner`.
    Owners(&'a str),
    /// The gems that whoever asks owns.
    OwnGems,
    /// A gem, with its newest version.
    Gem(&'a str),
    /// All versions of a gem.
    Versions(&'a str),
    /// The number of a gem's newest version.
    Latest(&'a str),
    /// A gem with one of its versions.
    Version(&'a str, &'a str),
    /// The gems that need a gem.
    Dependents(&'a str),
    /// Gems by words of their names.
    Search,
    /// Names by their beginning.
    Complete,
    /// The newest gems.
    Newest,
    /// The newest versions.
    Updated,
    /// The versions of a time.
    Between,
    /// How often things were downloaded.
    Downloads,
}

/// Reads a path without its leading slash, percent-decoded, as [`super::path::read`]. `None`: no such call.
pub fn read(path: &str) -> Option<(Call<'_>, Form)> {
    let below = path.strip_prefix("api/")?;
    let (below, form) = match below.rsplit_once('.') {
        Some((below, "json")) => (below, Form::Json),
        Some((below, "yaml")) => (below, Form::Yaml),
        _ => (below, Form::Text),
    };
    let mut parts = below.split('/');
    let parts: [&str; 6] = std::array::from_fn(|_| parts.next().unwrap_or_default());
    if below.split('/').count() > parts.len() {
        return None;
    }
    let data = form != Form::Text;
    let call = match parts {
        ["v1", "api_key", "", ..] => Call::Key,
        ["v1", "web_hooks", ..] => Call::Hooks,
        ["v1", "webauthn_verification", ..] if !data || parts[3] == "status" => Call::Device,
        ["v1", "gems", gem, "owners", "", ""] if named(gem) => Call::Owners(gem),
        ["v1", "search", "autocomplete", "", ..] => Call::Complete,
        _ if !data => return None,
        ["v1", "profile", "me", "", ..] => Call::Profile,
        ["v1", "gems", "", ..] => Call::OwnGems,
        ["v1", "gems", gem, "", ..] if named(gem) => Call::Gem(gem),
        ["v1", "gems", gem, "reverse_dependencies", "", ""] if named(gem) => Call::Dependents(gem),
        ["v1", "versions", gem, "", ..] if named(gem) => Call::Versions(gem),
        ["v1", "versions", gem, "latest", "", ""] if named(gem) => Call::Latest(gem),
        ["v2", "rubygems", gem, "versions", number, ""] if named(gem) && named(number) => Call::Version(gem, number),
        ["v1", "search", "", ..] => Call::Search,
        ["v1", "activity", "latest", "", ..] => Call::Newest,
        ["v1", "activity", "just_updated", "", ..] => Call::Updated,
        ["v1", "timeframe_versions", "", ..] => Call::Between,
        ["v1", "downloads", _, "", ..] => Call::Downloads,
        _ => return None,
    };
    Some((call, form))
}

fn named(text: &str) -> bool {
    text.len() <= MAX && !text.starts_with('.') && plain(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_call_of_the_api_is_read_with_the_form_it_asks_for() {
        for (path, call, form) in [
            ("api/v1/api_key", Call::Key, Form::Text),
            ("api/v1/api_key.yaml", Call::Key, Form::Yaml),
            ("api/v1/profile/me.yaml", Call::Profile, Form::Yaml),
            ("api/v1/webauthn_verification", Call::Device, Form::Text),
            ("api/v1/webauthn_verification/abc/status.json", Call::Device, Form::Json),
            ("api/v1/web_hooks.json", Call::Hooks, Form::Json),
            ("api/v1/web_hooks/fire", Call::Hooks, Form::Text),
            ("api/v1/gems/net-http/owners", Call::Owners("net-http"), Form::Text),
            ("api/v1/gems/net-http/owners.yaml", Call::Owners("net-http"), Form::Yaml),
            ("api/v1/gems.json", Call::OwnGems, Form::Json),
            ("api/v1/gems/a.b.json", Call::Gem("a.b"), Form::Json),
            ("api/v1/gems/a.yaml.json", Call::Gem("a.yaml"), Form::Json),
            ("api/v1/versions/rack.json", Call::Versions("rack"), Form::Json),
            ("api/v1/versions/rack/latest.json", Call::Latest("rack"), Form::Json),
            ("api/v2/rubygems/rack/versions/3.0.0.json", Call::Version("rack", "3.0.0"), Form::Json),
            ("api/v1/gems/rack/reverse_dependencies.json", Call::Dependents("rack"), Form::Json),
            ("api/v1/search.json", Call::Search, Form::Json),
            ("api/v1/search/autocomplete.json", Call::Complete, Form::Json),
            ("api/v1/search/autocomplete", Call::Complete, Form::Text),
            ("api/v1/activity/latest.json", Call::Newest, Form::Json),
            ("api/v1/activity/just_updated.json", Call::Updated, Form::Json),
            ("api/v1/timeframe_versions.json", Call::Between, Form::Json),
            ("api/v1/downloads/rack-1.0.json", Call::Downloads, Form::Json),
        ] {
            assert_eq!(read(path), Some((call, form)), "{path}");
        }
    }

    #[test]
    fn anything_odd_is_no_call() {
        for path in [
            "api/v1/gems",
            "api/v1/gems/yank",
            "api/v1/gems/rack",
            "api/v1/gems/.a.json",
            "api/v1/gems/a b.json",
            "api/v1/gems/a/b/c/d/e/f.json",
            "api/v1/gems/rack/owners/more.json",
            "api/v1/versions/rack",
            "api/v2/rubygems/rack/versions/.json",
            "api/v1/profile/me",
            "api/v3/search.json",
            "/api/v1/search.json",
            "api/v1/search.json/",
        ] {
            assert_eq!(read(path), None, "{path}");
        }
        assert_eq!(read(&format!("api/v1/gems/{}.json", "a".repeat(256))), None);
    }

    proptest! {
        #[test]
        fn no_path_makes_it_panic(path in "api/(v1|v2)/[a-z_./]{0,40}") {
            let _ = read(&path);
        }
    }
}
