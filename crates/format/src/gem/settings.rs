//! Settings files of Bundler and `gem` for a repository, ready to be saved.
//!
//! Bundler reads its file with regular expressions, and not as YAML. Bundler 2.2 reads a comment with a colon and a space as a setting, so no
//! comment has these.
//!
//! Bundler (2.2 to 4.0) takes the mirror of a URL once more for the download of a package. The mirror of all sources is then taken in place of
//! itself, without the token that was added from the environment or the settings: each package is 401. The mirror of one source is not, and a
//! token in the URL of a mirror stays. So the file for a private repository names the mirror of one source.

use std::borrow::Cow;

/// The source that Gemfiles name if they name no other.
const PUBLIC: &str = "https://rubygems.org/";

/// A settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsFile {
    /// `.bundle/config` of Bundler.
    Bundler,
    /// `~/.gemrc` of `gem`.
    Gem,
}

/// How a client uses the repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Use {
    /// As a replacement for all other sources: the repository has or fetches every gem.
    Instead,
    /// In addition to other sources: the repository has only gems that were pushed to it.
    Beside,
}

impl SettingsFile {
    /// All of them.
    pub const ALL: &'static [Self] = &[Self::Bundler, Self::Gem];

    /// Its path below a repository.
    pub fn path(self) -> &'static str {
        match self {
            Self::Bundler => "bundle-config",
            Self::Gem => "gemrc",
        }
    }

    /// The file for the repository at `url`, which ends with a slash. `private`: reading it needs a token.
    pub fn render(self, url: &str, private: bool, how: Use) -> String {
        match self {
            Self::Bundler => bundler(url, private, how),
            Self::Gem => gem(url, private, how),
        }
    }
}

fn bundler(url: &str, private: bool, how: Use) -> String {
    let (host, with_token) = (host(url), with_token(url));
    let mut lines = vec!["---".to_owned()];
    match how {
        Use::Instead => {
            let sources = if private { PUBLIC } else { "every source that a Gemfile names." };
            lines
                .push("# Save this as .bundle/config beside a Gemfile, or as ~/.bundle/config for all of them.".into());
            lines.push(format!("# Bundler then asks this repository in place of {sources}"));
        }
        Use::Beside => {
            lines.push(
                "# This repository has only the gems that were pushed to it, so it replaces no other source.".into(),
            );
            lines.push(format!("# A Gemfile names it as a source of its own, {}", url.trim_end_matches('/')));
        }
    }
    if private {
        lines.push("# It needs a token. Bundler takes it from the environment, or from its own settings, as in".into());
        if let Some(variable) = variable(host) {
            lines.push(format!("#   export {variable}=x:TOKEN"));
        }
        lines.push(format!("#   bundle config set --global {} x:TOKEN", quoted(host)));
    }
    match (how, private) {
        (Use::Instead, false) => lines.push(format!("BUNDLE_MIRROR__ALL: \"{url}\"")),
        (Use::Instead, true) => {
            lines.push(
                "# For a Gemfile with other sources, say the same of each. A mirror of all sources gets no token"
                    .into(),
            );
            lines.push("# from there, so it has the token in its URL, as in".into());
            lines.push(format!("#   bundle config set --global mirror.all {}", quoted(&with_token)));
            lines.push(format!("{}: \"{url}\"", key(&format!("mirror.{PUBLIC}"))));
        }
        (Use::Beside, _) => {
            lines.push(
                "# A lock may name another version of Bundler, which is on a public index. With this Bundler 2.5"
                    .into(),
            );
            lines.push("# and newer go on as they are, and ask nobody else for it.".into());
            lines.push("BUNDLE_VERSION: \"system\"".into());
        }
    }
    lines.join("\n") + "\n"
}

fn gem(url: &str, private: bool, how: Use) -> String {
    let mut lines = vec!["---".to_owned()];
    match how {
        Use::Instead => {
            lines.push("# Save this as ~/.gemrc, and `gem` asks this repository and no other source.".into())
        }
        Use::Beside => {
            lines.push(
                "# This repository has only the gems that were pushed to it. To ask it beside other sources, say"
                    .into(),
            );
            lines.push(format!("#   gem sources --add {url}"));
            lines.push("# Saved as ~/.gemrc, this file has `gem` ask it alone.".into());
        }
    }
    if private {
        lines.push("# Reading it needs a token, which stands here in place of TOKEN.".into());
    }
    lines.push("# Sources are not where `gem push` sends a gem. With this it sends none without --host.".into());
    lines.push(":disable_default_gem_server: true".into());
    lines.extend([":sources:".to_owned(), format!("- {}", if private { with_token(url) } else { url.to_owned() })]);
    lines.join("\n") + "\n"
}

/// The URL with a token in it, which is to be filled in. It is the password: Bundler 2.3 prints the user name in its errors.
fn with_token(url: &str) -> String {
    url.replacen("://", "://x:TOKEN@", 1)
}

/// The host of a URL, without its port: Bundler's name for its credentials.
fn host(url: &str) -> &str {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// An argument of a command. Shells take brackets, as of an IPv6 address, for a pattern.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains('[') { format!("'{text}'").into() } else { text.into() }
}

/// The name of a setting in Bundler's file and in its environment.
fn key(setting: &str) -> String {
    format!("BUNDLE_{}", setting.replace('-', "___").replace('.', "__").to_ascii_uppercase())
}

/// The variable in which Bundler looks for the credentials of a host; `None`: a shell can set none of that name, as for an IPv6 address.
fn variable(host: &str) -> Option<String> {
    Some(key(host)).filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://gems.my-team.example:8443/repository/all/";

    #[test]
    fn bundler_is_told_to_ask_this_repository_for_all_and_where_the_token_comes_from() {
        let public = SettingsFile::Bundler.render(URL, false, Use::Instead);
        assert!(public.starts_with("---\n# ") && !public.contains("TOKEN"), "{public}");
        assert!(
            public.ends_with("\nBUNDLE_MIRROR__ALL: \"https://gems.my-team.example:8443/repository/all/\"\n"),
            "{public}"
        );
        let text = SettingsFile::Bundler.render(URL, true, Use::Instead);
        let ends = "\nBUNDLE_MIRROR__HTTPS://RUBYGEMS__ORG/: \"https://gems.my-team.example:8443/repository/all/\"\n";
        assert!(text.ends_with(ends), "{text}");
        for line in [
            "export BUNDLE_GEMS__MY___TEAM__EXAMPLE=x:TOKEN",
            "bundle config set --global gems.my-team.example x:TOKEN",
            "bundle config set --global mirror.all https://x:TOKEN@gems.my-team.example:8443/repository/all/",
        ] {
            assert!(text.contains(&format!("\n#   {line}\n")), "{text}");
        }
        let text = SettingsFile::Bundler.render("http://[::1]/repository/all/", true, Use::Instead);
        assert!(text.contains("--global '[::1]' x:TOKEN") && !text.contains("export"), "{text}");
    }

    #[test]
    fn a_repository_of_pushed_gems_replaces_no_source() {
        let text = SettingsFile::Bundler.render(URL, false, Use::Beside);
        assert!(text.contains("repository/all") && !text.contains("MIRROR"), "{text}");
        assert!(SettingsFile::Gem.render(URL, false, Use::Beside).contains(&format!("#   gem sources --add {URL}\n")));
    }

    #[test]
    fn gem_is_told_one_source() {
        let sources = |private| SettingsFile::Gem.render(URL, private, Use::Instead);
        assert!(sources(false).ends_with(&format!("\n:sources:\n- {URL}\n")));
        assert!(sources(true).ends_with("\n:sources:\n- https://x:TOKEN@gems.my-team.example:8443/repository/all/\n"));
    }

    #[test]
    fn no_comment_is_a_setting_to_a_client_that_reads_by_patterns() {
        for file in SettingsFile::ALL {
            for (private, how) in
                [(true, Use::Instead), (false, Use::Instead), (true, Use::Beside), (false, Use::Beside)]
            {
                let text = file.render(URL, private, how);
                for comment in text.lines().filter(|line| line.starts_with('#')) {
                    assert!(!comment.contains(": ") && !comment.ends_with(':'), "{comment}");
                }
            }
        }
    }
}
