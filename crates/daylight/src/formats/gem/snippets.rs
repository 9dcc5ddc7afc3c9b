//! The lines with which clients use one version of a gem.

use crate::face::VersionUsage;
use web::Snippet;

/// One snippet for each client.
pub(super) fn of(version: &VersionUsage<'_>) -> Vec<Snippet> {
    let (url, name, number) = (version.url, ruby(version.package), ruby(version.number));
    let gemfile = format!("source \"{url}/\" do\n  gem \"{name}\", \"{number}\"\nend");
    let mut all = vec![Snippet::new("Gemfile", gemfile)];
    let mut source = url.to_owned();
    if version.repository.record.private {
        let line = format!("bundle config set --global {url}/ x:TOKEN");
        all.push(Snippet::new("The token, for Bundler, once on each machine", line));
        source = url.replacen("://", "://x:TOKEN@", 1);
    }
    let install = format!(
        "gem install {} --version {} --clear-sources --source {source}/",
        shell(version.package),
        shell(version.number)
    );
    all.push(Snippet::new("gem", install));
    all
}

/// A text inside double quotes of Ruby.
fn ruby(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('#', "\\#")
}

/// A word of a shell.
fn shell(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_no_string_and_begins_no_command() {
        assert_eq!(ruby("a\"#{b}\\"), "a\\\"\\#{b}\\\\");
        assert_eq!((shell("1.0-java"), shell("a;'b")), ("1.0-java".into(), "'a;'\\''b'".into()));
    }
}
