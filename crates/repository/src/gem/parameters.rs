//! Parses and limits the parameters of calls of gem servers, from queries and forms.

use crate::error::{Error, Result};
use crate::gem::program::{Describe, OwnerChange, Role, What};
use crate::gem::question::OwnerVerb;
use crate::moment;
use crate::parameters::Parameters;
use format::gem::{self, Call, call};
use format::percent::Form;
use std::collections::HashSet;
use telemetry::{Event, Millis};

/// Maximum number of gems in one request for dependencies, the limit that clients know. Bundler requests 50 at once.
const NAMES_MAX: usize = 200;
/// Maximum length of a search query, in bytes.
const QUERY_MAX: usize = 500;
/// Maximum number of words in a search query.
const WORDS_MAX: usize = 8;
/// The last page that is shown.
const PAGE_MAX: usize = 1000;
/// Maximum length of a time span whose versions are listed, in milliseconds: a week.
const SPAN_MAX: i64 = 7 * 24 * 3600 * 1000;

/// The version that a `gem yank` names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Yanked {
    pub(crate) name: String,
    pub(crate) number: String,
    /// `ruby` if the client names none.
    pub(crate) platform: String,
}

/// The question of a program in a call and its query.
pub(crate) fn describe(call: Call<'_>, form: call::Form, parameters: &Parameters<'_>, now: Millis) -> Result<Describe> {
    let query = parameters.query();
    let text = |text: &str| text.to_owned();
    let what = match call {
        Call::Owners(name) => What::Owners(text(name)),
        Call::Gem(name) => What::Gem(text(name)),
        Call::Versions(name) => What::Versions(text(name)),
        Call::Latest(name) => What::Latest(text(name)),
        Call::Version(name, number) => What::Version(text(name), text(number), query.value("platform")),
        Call::OwnGems => What::Own,
        Call::Search => What::Search(words(query)?, page(query)?),
        Call::Autocomplete => What::Complete(asked_for(query)?),
        Call::Newest => What::Newest,
        Call::JustUpdated => What::Updated,
        Call::TimeframeVersions => {
            let (from, until) = span(query, now)?;
            What::Between(from, until, page(query)?)
        }
        Call::Dependents(_) => return Err(not_yet("which gems need a gem is not kept")),
        Call::Downloads => return Err(not_yet("downloads are not counted for each gem")),
    };
    let base = if what.has_urls() { parameters.base() } else { String::new() };
    Ok(Describe { what, base, form })
}

fn not_yet(what: &str) -> Error {
    Error::Unsupported(format!("{what} yet"))
}

/// The person and the change in a form. `gem owner` sends the form in the body, also with a DELETE; other clients use
/// the query.
pub(crate) fn owner(verb: OwnerVerb, parameters: &Parameters<'_>) -> Result<(String, OwnerChange)> {
    let fields = format!("{}&{}", parameters.form()?.0, parameters.query);
    let fields = Form(&fields);
    let person = fields.value("email").filter(|person| !person.is_empty());
    let person = person.ok_or_else(|| Error::Input("`email` is missing: it names the owner".into()))?;
    let role = match fields.value("role").as_deref() {
        None | Some("" | "owner") => Role::Owner,
        Some("maintainer") => Role::Maintainer,
        Some(other) => {
            let other = Event::text(other);
            return Err(Error::Input(format!("there is no role `{other}`; there are: owner, maintainer")));
        }
    };
    let change = match verb {
        OwnerVerb::Add => OwnerChange::Add(role),
        OwnerVerb::Remove => OwnerChange::Remove,
        OwnerVerb::Update => OwnerChange::Become(role),
    };
    // A misspelt role must not grant ownership.
    let known = parameters.people.is_some_and(|people| people.has_token(&person));
    if verb == OwnerVerb::Add && !known {
        return Err(Error::NoSuchOwner);
    }
    Ok((person, change))
}

/// The requested gems, without duplicates. `None`: the request names none.
pub(crate) fn names(parameters: &Parameters<'_>) -> Result<Option<Vec<String>>> {
    let list = parameters.query().value("gems").filter(|list| !list.is_empty());
    let Some(list) = list else { return Ok(None) };
    let mut names: Vec<String> = Vec::new();
    let mut seen = HashSet::new();
    for name in list.split(',').filter(|name| !name.is_empty()) {
        let new = seen.insert(name);
        if seen.len() > NAMES_MAX {
            return Err(Error::TooManyNames);
        }
        // An invalid name has no versions. Upstreams have gems that are older than some rules for names.
        if new && name.len() <= gem::name::MAX && gem::name::plain(name) {
            names.push(name.to_owned());
        }
    }
    Ok(Some(names))
}

/// The version to yank. `gem yank` sends its parameters as a form in the body of a DELETE; other clients put them into
/// the query.
pub(crate) fn yanked(parameters: &Parameters<'_>) -> Result<Yanked> {
    let (form, query) = (parameters.form()?, parameters.query());
    let value = |key: &str| form.value(key).or_else(|| query.value(key));
    let required = |key: &str| value(key).ok_or_else(|| Error::Input(format!("`{key}` is missing")));
    let (name, number) = (required("gem_name")?, required("version")?);
    let platform = value("platform").filter(|platform| !platform.is_empty()).unwrap_or_else(|| "ruby".into());
    // An invalid name is not looked up and not written into an event.
    if gem::name::check(&name).is_err() {
        return Err(Error::NoSuchGem);
    }
    // A gem for one Ruby ABI is identified by its content, and no such gem exists here (RubyGems 4.1 sends `ruby_abi`).
    let plain = value("ruby_abi").is_none_or(|abi| abi.is_empty());
    if !plain || gem::Version::published(&number).is_err() || gem::name::check_platform(&platform).is_err() {
        return Err(Error::NoSuchVersion(Event::text(&number)));
    }
    Ok(Yanked { name, number, platform })
}

fn asked_for(query: Form<'_>) -> Result<String> {
    match query.value("query").filter(|query| !query.trim().is_empty()) {
        Some(query) if query.len() <= QUERY_MAX => Ok(query),
        Some(_) => Err(Error::Input(format!("`query` is longer than {QUERY_MAX} bytes"))),
        None => Err(Error::Input("`query` is missing".into())),
    }
}

fn words(query: Form<'_>) -> Result<Vec<String>> {
    let words = asked_for(query)?.to_ascii_lowercase();
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    if words.len() <= WORDS_MAX {
        Ok(words)
    } else {
        Err(Error::Input(format!("`query` has more than {WORDS_MAX} words")))
    }
}

fn page(query: Form<'_>) -> Result<usize> {
    match query.value("page").map(|page| page.parse()) {
        None => Ok(1),
        Some(Ok(page)) if (1..=PAGE_MAX).contains(&page) => Ok(page),
        Some(_) => Err(Error::Input(format!("`page` is a number from 1 to {PAGE_MAX}"))),
    }
}

fn span(query: Form<'_>, now: Millis) -> Result<(Millis, Millis)> {
    let moment = |name: &str| query.value(name).map(|text| moment::read(&text)).transpose();
    let from = moment("from")?.ok_or_else(|| Error::Input("`from` is missing".into()))?;
    let until = moment("to")?.unwrap_or(now);
    match until.0.saturating_sub(from.0) {
        0..=SPAN_MAX => Ok((from, until)),
        _ => Err(Error::Input("`to` is at most 7 days after `from`".into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_searched_for_has_limits() {
        assert_eq!(words(Form("query=Net++HTTP")).unwrap(), ["net", "http"]);
        let long = format!("query={}", "a".repeat(QUERY_MAX + 1));
        for bad in ["", "query=", "query=+", &*long, "query=a+b+c+d+e+f+g+h+i"] {
            assert!(words(Form(bad)).is_err(), "{bad}");
        }
        assert_eq!(page(Form("page=7")).unwrap(), 7);
        for bad in ["page=0", "page=-1", "page=x", "page=1001"] {
            assert!(page(Form(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_time_is_a_week_at_most() {
        let now = Millis(1_793_534_400_000);
        let told = span(Form("from=2026-10-31T12:00:00Z"), now).unwrap();
        assert_eq!(told, (Millis(1_793_448_000_000), now));
        assert!(span(Form("from=2026-10-01&to=2026-10-08"), now).is_ok());
        for bad in ["", "from=x", "from=2026-10-01", "from=2026-10-08&to=2026-10-01"] {
            assert!(span(Form(bad), now).is_err(), "{bad}");
        }
    }
}
