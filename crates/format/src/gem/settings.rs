//! Settings files of Bundler and `gem` for a repository, ready to be saved.
//!
//! Bundler reads its file with regular expressions, and not as YAML. Bundler 2.2 reads a comment with a colon and a space as a setting, so no
//! comment has these.

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
    let mut lines = vec!["---".to_owned()];
    match how {
        Use::Instead => {
            lines
                .push("# Save this as .bundle/config beside a Gemfile, or as ~/.bundle/config for all of them.".into());
            lines.push("# Bundler then asks this repository in place of every source that a Gemfile names.".into());
        }
        Use::Beside => {
            lines.push(
                "# This repository has only the gems that were pushed to it, so it replaces no other source.".into(),
            );
            lines.push(format!("# A Gemfile names it as a source of its own, {}", url.trim_end_matches('/')));
        }
    }
    if private {
        let host = host(url);
        lines.push("# It needs a token. Bundler takes it from the environment, or from its own settings, as in".into());
        lines.push(format!("#   export {}=TOKEN", environment(host)));
        lines.push(format!("#   bundle config set --global {host} TOKEN"));
    }
    if how == Use::Instead {
        lines.push(format!("BUNDLE_MIRROR__ALL: \"{url}\""));
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
    let url = match (private, url.split_once("://")) {
        (true, Some((scheme, rest))) => {
            lines.push("# Reading it needs a token, which stands here in place of TOKEN.".into());
            format!("{scheme}://TOKEN@{rest}")
        }
        _ => url.to_owned(),
    };
    lines.extend([":sources:".to_owned(), format!("- {url}")]);
    lines.join("\n") + "\n"
}

/// The host of a URL, without its port: Bundler's name for its credentials.
fn host(url: &str) -> &str {
    let authority = url.split_once("://").map_or(url, |(_, rest)| rest).split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    }
}

/// The variable in which Bundler looks for the credentials of a host.
fn environment(host: &str) -> String {
    format!("BUNDLE_{}", host.replace('-', "___").replace('.', "__").to_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://gems.my-team.example:8443/repository/all/";

    #[test]
    fn bundler_is_told_to_ask_this_repository_for_all_and_where_the_token_comes_from() {
        let text = SettingsFile::Bundler.render(URL, true, Use::Instead);
        assert!(text.starts_with("---\n# "));
        assert!(
            text.ends_with("\nBUNDLE_MIRROR__ALL: \"https://gems.my-team.example:8443/repository/all/\"\n"),
            "{text}"
        );
        assert!(text.contains("\n#   export BUNDLE_GEMS__MY___TEAM__EXAMPLE=TOKEN\n"), "{text}");
        assert!(text.contains("\n#   bundle config set --global gems.my-team.example TOKEN\n"), "{text}");
        assert!(!SettingsFile::Bundler.render(URL, false, Use::Instead).contains("TOKEN"));
        assert_eq!(host("http://[::1]/repository/all/"), "[::1]");
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
        assert!(sources(true).ends_with("\n:sources:\n- https://TOKEN@gems.my-team.example:8443/repository/all/\n"));
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
