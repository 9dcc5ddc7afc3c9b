//! The lines with which clients use one version of a gem.

use crate::face::VersionUsage;
use format::shell::word;
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
        word(version.package),
        word(version.number)
    );
    all.push(Snippet::new("gem", install));
    all
}

/// A text inside double quotes of Ruby.
fn ruby(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('#', "\\#")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_no_string_and_begins_no_command() {
        assert_eq!(ruby("a\"#{b}\\"), "a\\\"\\#{b}\\\\");
    }
}
