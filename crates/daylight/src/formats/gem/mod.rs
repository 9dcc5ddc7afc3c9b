//! Gem repositories, as `gem` and Bundler are told of them.

mod export;
mod snippets;
mod usage;

use crate::config::OptionalUpstream;
use crate::face::{DefaultRemote, Face};
use repository::{Error, Format, RepositoryRecord, Scope};
use store::RepositoryKind;
use telemetry::Millis;

/// The face of gems.
pub(crate) const FACE: Face = Face {
    option: "gem",
    noun: "gem",
    agents: &["RubyGems/", "bundler/"],
    prints_bodies: true,
    shows_details_only: false,
    token_variable: "GEM_HOST_API_KEY",
    token_source: |scope| match scope {
        Scope::Read => {
            "Bundler takes it from `bundle config set --global URL x:TOKEN`, with the URL of the repository and its last `/`, but not for a \
             mirror of all sources (`mirror.all`): that and `gem` take it from the URL, `https://x:TOKEN@HOST/...`"
        }
        _ => "`gem` takes it from GEM_HOST_API_KEY",
    },
    token_store: "the client has the one that was sent from GEM_HOST_API_KEY, `~/.gem/credentials`, `bundle config` or the source's URL",
    about_groups: "; a group takes no changes: push to a hosted repository, and yank there",
    without_repository: |path| match path {
        ["api", "v1", "gems" | "api_key" | "dependencies" | "search.json" | "versions", ..] | ["api", "v2", ..] => {
            Some("`gem` and Bundler take the URL of a repository: `gem push --host http://HOST/repository/NAME`")
        }
        _ => None,
    },
    elsewhere: |url, _, _| format!("use this URL: `gem push --host {url}`, `gem yank --host {url}`"),
    unrequested: |repository| {
        Some(format!(
            "Bundler requests no file of a version that an index leaves out: `daylight policy allow {repository} --lock Gemfile.lock` \
             takes the versions of its lock, and `daylight explain {repository} NAME` shows what is hidden of a gem"
        ))
    },
    upload_field: Some("gem"),
    unsaved: Error::Unsaved,
    usage: usage::describe,
    publishing: |_, url| format!("export GEM_HOST_API_KEY=TOKEN\ngem push --host {url} NAME-VERSION.gem"),
    snippets: snippets::of,
    first_push: |url| Some(format!("GEM_HOST_API_KEY=$DAYLIGHT_TOKEN gem push --host {url} NAME-VERSION.gem")),
    first_fetch: |url| Some(format!("bundle config set --local mirror.all {url}\nbundle install")),
    has_readmes: true,
    browses_names: true,
    has_index: true,
    exported: "gems",
    export: export::export,
    default_hosted: |info_format| {
        let record = RepositoryRecord::new("gems-private", Format::Gem.as_str(), RepositoryKind::Hosted, Millis(0));
        vec![RepositoryRecord { info_format: Some(info_format.as_str().to_owned()), ..record }]
    },
    default_remote: |upstream| {
        let is_unchanged = upstream.rubygems == OptionalUpstream::rubygems();
        Some(DefaultRemote { name: "rubygems", url: upstream.rubygems.0.as_ref(), is_unchanged })
    },
    default_group: Some("gems"),
};
