//! The question, the cost class and the body of each method and path, for each format.

use crate::format::Format;
use crate::question::Question;
use crate::reading::{About, Brings, Cost, Reading, Unread};
use crate::scope::Scope;
use proptest::prelude::*;
use store::RepositoryKind;

fn read<'a>(format: Format, method: &str, path: &'a str) -> Result<Reading<Question<'a>>, &'static str> {
    format.read(RepositoryKind::Hosted, method, path)
}

fn scope(format: Format, method: &str, path: &str) -> Option<Scope> {
    match read(format, method, path).ok()?.about {
        About::Content(scope, _) => Some(scope),
        About::Account(_) => None,
    }
}

#[test]
fn the_path_and_the_format_tell_what_a_request_costs() {
    for (path, gem, tree) in [
        ("", Cost::Page, Cost::Page),
        ("nothing/here", Cost::Page, Cost::Download),
        ("versions", Cost::Index, Cost::Download),
        ("info/lamp", Cost::Index, Cost::Download),
        ("names", Cost::Index, Cost::Download),
        ("api/v1/search.json", Cost::Index, Cost::Download),
        ("api/v1/dependencies.json", Cost::Index, Cost::Download),
        ("specs.4.8.gz", Cost::Index, Cost::Download),
        ("gems/lamp-1.0.0.gem", Cost::Download, Cost::Download),
        ("quick/Marshal.4.8/lamp-1.0.0.gemspec.rz", Cost::Download, Cost::Download),
        ("downloads/lamp-1.0.0.gem", Cost::Page, Cost::Download),
        ("api/v1/api_key", Cost::Account, Cost::Download),
        ("api/v1/gems/lamp/owners.json", Cost::Index, Cost::Download),
    ] {
        let cost = |format| read(format, "GET", path).unwrap().cost;
        assert_eq!((cost(Format::Gem), cost(Format::Raw), cost(Format::Maven)), (gem, tree, tree), "{path}");
    }
    let cost = |format, method, path| read(format, method, path).unwrap().cost;
    let owners = "api/v1/gems/lamp/owners";
    assert_eq!(cost(Format::Gem, "POST", owners), Cost::Account);
    assert_eq!(cost(Format::Raw, "PUT", owners), Cost::Upload);
    for format in [Format::Gem, Format::Raw] {
        assert_eq!(cost(format, "POST", "api/v1/gems"), Cost::Upload);
        assert_eq!(cost(format, "DELETE", "api/v1/gems/yank"), Cost::Upload);
    }
}

#[test]
fn the_scopes_of_owners_are_for_owners_of_gems() {
    let path = "api/v1/gems/lamp/owners";
    for (method, gem, file) in [
        ("POST", Scope::AddOwner, Some(Scope::Write)),
        ("DELETE", Scope::RemoveOwner, Some(Scope::Delete)),
        ("PUT", Scope::UpdateOwner, Some(Scope::Write)),
        ("PATCH", Scope::UpdateOwner, None),
    ] {
        assert_eq!(scope(Format::Gem, method, path), Some(gem));
        assert_eq!((scope(Format::Raw, method, path), scope(Format::Maven, method, path)), (file, file));
    }
}

#[test]
fn a_form_comes_with_a_yank_a_change_of_owners_and_a_key_and_a_file_with_a_push() {
    let brings = |method, path| read(Format::Gem, method, path).unwrap().brings;
    assert_eq!(brings("DELETE", "api/v1/gems/yank"), Brings::Form);
    assert_eq!(brings("PUT", "api/v1/gems/unyank"), Brings::Form);
    assert_eq!(scope(Format::Gem, "PUT", "api/v1/gems/unyank"), Some(Scope::Delete));
    assert_eq!(brings("PUT", "api/v1/gems/lamp/owners"), Brings::Form);
    assert_eq!(brings("POST", "api/v1/api_key"), Brings::Form);
    assert_eq!(brings("GET", "api/v1/api_key"), Brings::Nothing);
    assert_eq!(brings("POST", "api/v1/gems"), Brings::File);
    assert_eq!(brings("POST", "versions"), Brings::Nothing);
    assert_eq!(read(Format::Raw, "PUT", "a").unwrap().brings, Brings::File);
    assert_eq!(read(Format::Raw, "DELETE", "a").unwrap().brings, Brings::Nothing);
}

#[test]
fn a_wrong_method_is_told_which_are_right() {
    let why = |method, path| match read(Format::Gem, method, path) {
        Ok(Reading { about: About::Content(_, Err(Unread::NotAllowed(allow))), .. }) => allow,
        Err(allow) => allow,
        other => panic!("{other:?}"),
    };
    assert_eq!(why("PUT", "versions"), "GET, HEAD");
    assert_eq!(why("GET", "api/v1/gems"), "POST");
    assert_eq!(why("POST", "api/v1/gems/yank"), "DELETE");
    assert_eq!(why("DELETE", "api/v1/gems/unyank"), "PUT");
    assert_eq!(why("POST", "api/v1/search.json"), "GET, HEAD");
    assert_eq!(why("HEAD", "api/v1/api_key"), "GET, POST, PUT, PATCH");
    assert_eq!(why("OPTIONS", "api/v1/gems/lamp/owners"), "GET, HEAD, POST, DELETE, PUT, PATCH");
    assert_eq!(why("OPTIONS", "versions"), "GET, HEAD, POST, PUT, DELETE");
}

proptest! {
    #[test]
    fn no_path_of_another_format_is_a_call(path in "api/(v1|v2)/[a-z_./]{0,40}") {
        for (method, expected) in [("GET", Scope::Read), ("POST", Scope::Write), ("PUT", Scope::Write), ("DELETE", Scope::Delete)] {
            for format in [Format::Raw, Format::Maven] {
                prop_assert_eq!(scope(format, method, &path), Some(expected));
            }
        }
    }
}
