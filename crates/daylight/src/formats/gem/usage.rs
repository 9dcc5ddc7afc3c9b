//! The lines with which clients use a gem repository.

use crate::face::Usage;
use store::RepositoryKind;
use web::Document;

/// Adds the lines to the page of the repository.
pub(super) fn describe(of: &Usage<'_>, document: &mut Document) {
    let url = of.url;
    document.heading("In a Gemfile");
    document.lines(format!("source \"{url}/\""));
    if of.repository.record.private {
        document.heading("The token, for Bundler, once on each machine");
        document.lines(format!("bundle config set --global {url}/ x:TOKEN"));
    }
    if of.repository.record.kind != RepositoryKind::Hosted {
        document.heading("Or, without a change of any Gemfile, for all sources");
        document.lines(format!("bundle config set --global mirror.all {}", url_with_token(of)));
    }
    document.heading("With gem");
    let url = url_with_token(of);
    document.lines(format!("gem install NAME --clear-sources --source {url}/\ngem sources --add {url}/"));
}

/// The URL, with a placeholder for a token if one is needed.
fn url_with_token(of: &Usage<'_>) -> String {
    match of.url.split_once("://") {
        Some((scheme, rest)) if of.repository.record.private => format!("{scheme}://x:TOKEN@{rest}"),
        _ => of.url.to_owned(),
    }
}
