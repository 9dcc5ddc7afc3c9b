//! Paths below `api/`: calls about accounts, owners and gems, for programs.

use super::name::{MAX, plain};

/// The form of an answer, chosen by the ending of the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// No ending: plain text.
    Text,
    /// `.json`.
    Json,
    /// `.yaml`.
    Yaml,
}

/// A call about an account.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountCall {
    /// Its keys: `gem signin`.
    Key,
    /// Its profile.
    Profile,
    /// A security device instead of a one-time password.
    Device,
    /// Webhooks.
    Hooks,
}

/// A call about gems of the API that gem servers have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<'a> {
    /// The owners of a gem: `gem owner`.
    Owners(&'a str),
    /// The gems that the caller owns.
    OwnGems,
    /// A gem and its newest version.
    Gem(&'a str),
    /// All versions of a gem.
    Versions(&'a str),
    /// The number of a gem's newest version.
    Latest(&'a str),
    /// A gem and one of its versions.
    Version(&'a str, &'a str),
    /// The gems that depend on a gem.
    Dependents(&'a str),
    /// Search for gems by words of their names.
    Search,
    /// Names with a prefix.
    Autocomplete,
    /// The newest gems.
    Newest,
    /// The newest versions.
    JustUpdated,
    /// The versions published in a period.
    TimeframeVersions,
    /// Counts of downloads.
    Downloads,
}

impl<'a> Call<'a> {
    /// The gem of a call about a single gem.
    pub fn gem(&self) -> Option<&'a str> {
        match *self {
            Call::Gem(name) | Call::Versions(name) | Call::Latest(name) | Call::Version(name, _) => Some(name),
            Call::Owners(name) => Some(name),
            _ => None,
        }
    }
}

/// The forms that a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Forms {
    /// All of them.
    All,
    /// `.json` and `.yaml`.
    Data,
    /// No ending alone.
    Text,
}

/// One line for each call: its path below `api/`, its forms, and the call. `{name}` stands for the name of a gem,
/// `{number}` for a version number, `{any}` for any segment, `{rest}` for all remaining segments.
type Line<C> = (&'static str, Forms, C);

/// Makes a call from the names in a path: the first, and the second if there are two.
type Make = for<'a> fn(&'a str, &'a str) -> Call<'a>;

const ACCOUNTS: &[Line<AccountCall>] = &[
    ("v1/api_key", Forms::All, AccountCall::Key),
    ("v1/web_hooks", Forms::All, AccountCall::Hooks),
    ("v1/web_hooks/{rest}", Forms::All, AccountCall::Hooks),
    ("v1/webauthn_verification", Forms::Text, AccountCall::Device),
    ("v1/webauthn_verification/{rest}", Forms::Text, AccountCall::Device),
    ("v1/webauthn_verification/{any}/status", Forms::Data, AccountCall::Device),
    ("v1/profile/me", Forms::Data, AccountCall::Profile),
];

const GEMS: &[Line<Make>] = &[
    ("v1/gems/{name}/owners", Forms::All, |name, _| Call::Owners(name)),
    ("v1/search/autocomplete", Forms::All, |_, _| Call::Autocomplete),
    ("v1/gems", Forms::Data, |_, _| Call::OwnGems),
    ("v1/gems/{name}", Forms::Data, |name, _| Call::Gem(name)),
    ("v1/gems/{name}/reverse_dependencies", Forms::Data, |name, _| Call::Dependents(name)),
    ("v1/versions/{name}", Forms::Data, |name, _| Call::Versions(name)),
    ("v1/versions/{name}/latest", Forms::Data, |name, _| Call::Latest(name)),
    ("v2/rubygems/{name}/versions/{number}", Forms::Data, |name, number| Call::Version(name, number)),
    ("v1/search", Forms::Data, |_, _| Call::Search),
    ("v1/activity/latest", Forms::Data, |_, _| Call::Newest),
    ("v1/activity/just_updated", Forms::Data, |_, _| Call::JustUpdated),
    ("v1/timeframe_versions", Forms::Data, |_, _| Call::TimeframeVersions),
    ("v1/downloads", Forms::Data, |_, _| Call::Downloads),
    ("v1/downloads/{any}", Forms::Data, |_, _| Call::Downloads),
];

/// Parses a path without its leading slash, percent-decoded, like [`super::path::read`]. `None`: no such call.
pub fn read(path: &str) -> Option<(Call<'_>, Form)> {
    let (make, (first, second), form) = find(GEMS, path)?;
    Some((make(first, second), form))
}

/// The same for calls about accounts.
pub fn read_account(path: &str) -> Option<(AccountCall, Form)> {
    find(ACCOUNTS, path).map(|(call, _, form)| (call, form))
}

/// The call with this path, the names in the path, and the form.
fn find<'a, C: Copy>(table: &[Line<C>], path: &'a str) -> Option<(C, (&'a str, &'a str), Form)> {
    let below = path.strip_prefix("api/")?;
    let (below, form) = match below.rsplit_once('.') {
        Some((below, "json")) => (below, Form::Json),
        Some((below, "yaml")) => (below, Form::Yaml),
        _ => (below, Form::Text),
    };
    let lines = table.iter().filter(|(_, forms, _)| forms.has(form));
    lines.into_iter().find_map(|(pattern, _, call)| Some((*call, captures(pattern, below)?, form)))
}

/// The path of every call in every form for this gem and number, for callers that need all of them.
pub fn paths(name: &str, number: &str) -> Vec<String> {
    let ending = |form| match form {
        Form::Text => "",
        Form::Json => ".json",
        Form::Yaml => ".yaml",
    };
    let fill = |pattern: &str| {
        let any = format!("{name}-{number}");
        let filled = pattern.replace("{name}", name).replace("{number}", number);
        filled.replace("{any}", &any).replace("{rest}", &any)
    };
    let forms = |forms: Forms| [Form::Text, Form::Json, Form::Yaml].into_iter().filter(move |form| forms.has(*form));
    let of = |(pattern, all)| {
        let path = fill(pattern);
        forms(all).map(move |form| format!("api/{path}{}", ending(form))).collect::<Vec<_>>()
    };
    let accounts = ACCOUNTS.iter().map(|(pattern, forms, _)| (*pattern, *forms));
    accounts.chain(GEMS.iter().map(|(pattern, forms, _)| (*pattern, *forms))).flat_map(of).collect()
}

impl Forms {
    fn has(self, form: Form) -> bool {
        match self {
            Forms::All => true,
            Forms::Data => form != Form::Text,
            Forms::Text => form == Form::Text,
        }
    }
}

/// The names in a path of this pattern; `None` if the path does not match.
fn captures<'a>(pattern: &str, path: &'a str) -> Option<(&'a str, &'a str)> {
    let (mut names, mut segments) = (["", ""], path.split('/'));
    let mut next = 0;
    for part in pattern.split('/') {
        let segment = segments.next()?;
        match part {
            "{rest}" => return Some((names[0], names[1])),
            "{any}" => {}
            "{name}" | "{number}" => {
                *names.get_mut(next).filter(|_| named(segment))? = segment;
                next += 1;
            }
            word if word == segment => {}
            _ => return None,
        }
    }
    segments.next().is_none().then_some((names[0], names[1]))
}

fn named(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX && !text.starts_with('.') && plain(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_call_of_the_api_is_read_with_the_form_it_asks_for() {
        for (path, call, form) in [
            ("api/v1/api_key", AccountCall::Key, Form::Text),
            ("api/v1/api_key.yaml", AccountCall::Key, Form::Yaml),
            ("api/v1/profile/me.yaml", AccountCall::Profile, Form::Yaml),
            ("api/v1/webauthn_verification", AccountCall::Device, Form::Text),
            ("api/v1/webauthn_verification/abc/status.json", AccountCall::Device, Form::Json),
            ("api/v1/web_hooks.json", AccountCall::Hooks, Form::Json),
            ("api/v1/web_hooks/fire", AccountCall::Hooks, Form::Text),
        ] {
            assert_eq!((read_account(path), read(path)), (Some((call, form)), None), "{path}");
        }
        for (path, call, form) in [
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
            ("api/v1/search/autocomplete.json", Call::Autocomplete, Form::Json),
            ("api/v1/search/autocomplete", Call::Autocomplete, Form::Text),
            ("api/v1/activity/latest.json", Call::Newest, Form::Json),
            ("api/v1/activity/just_updated.json", Call::JustUpdated, Form::Json),
            ("api/v1/timeframe_versions.json", Call::TimeframeVersions, Form::Json),
            ("api/v1/downloads/rack-1.0.json", Call::Downloads, Form::Json),
        ] {
            assert_eq!((read(path), read_account(path)), (Some((call, form)), None), "{path}");
        }
    }

    #[test]
    fn all_paths_are_read_as_calls_and_none_is_forgotten() {
        let all = paths("lamp", "1.0.0").leak();
        assert!(all.iter().all(|path| read(path).is_some() != read_account(path).is_some()), "{all:?}");
        // A new call does not compile here: add its line to the table, and increase the number below.
        let kind = |call: Call<'static>| match call {
            Call::Owners(_)
            | Call::OwnGems
            | Call::Gem(_)
            | Call::Versions(_)
            | Call::Latest(_)
            | Call::Version(..)
            | Call::Dependents(_)
            | Call::Search
            | Call::Autocomplete
            | Call::Newest
            | Call::JustUpdated
            | Call::TimeframeVersions
            | Call::Downloads => std::mem::discriminant(&call),
        };
        let found = all.iter().filter_map(|path| read(path)).map(|(call, _)| kind(call));
        assert_eq!(found.collect::<std::collections::HashSet<_>>().len(), 13);
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
            assert_eq!((read(path), read_account(path)), (None, None), "{path}");
        }
        assert_eq!(read(&format!("api/v1/gems/{}.json", "a".repeat(256))), None);
    }

    proptest! {
        #[test]
        fn no_path_makes_it_panic(path in "api/(v1|v2)/[a-z_./]{0,40}") {
            let _ = (read(&path), read_account(&path));
        }
    }
}
