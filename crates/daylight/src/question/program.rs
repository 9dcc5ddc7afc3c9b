//! Calls of the API that gem servers have, with what stands in their query or form, to a question.

use crate::access::Who;
use crate::app::App;
use crate::config::FORM_BYTES;
use crate::error::Error;
use crate::percent::{Form as Fields, segment};
use crate::route::Content;
use format::gem::{Call, Form};
use front::Request;
use http::Method;
use repository::{Describe, OwnerChange, Question, Role, What};
use telemetry::{Event, Millis};

/// Longest query for names, in bytes.
const QUERY_MAX: usize = 500;
/// Most words in one.
const WORDS_MAX: usize = 8;
/// The last page that is shown.
const PAGE_MAX: usize = 1000;
/// The longest time whose versions are listed, in milliseconds: a week.
const SPAN_MAX: i64 = 7 * 24 * 3600 * 1000;

/// What is asked. Whether they may was decided by the path and the method.
pub(super) async fn read(
    app: &App,
    who: &Who,
    (call, form): (Call<'_>, Form),
    url: &Content,
    request: &mut Request,
    event: &mut Event,
) -> Result<Question, Error> {
    let got = matches!(url.method, Method::GET | Method::HEAD);
    if let (Call::Owners(name), false) = (call, got) {
        return owner(app, name, request, event).await;
    }
    if !got {
        return Err(Error::MethodNotAllowed { method: Event::text(url.method.as_str()), allow: "GET, HEAD".into() });
    }
    let query = Fields(request.query().unwrap_or_default());
    let text = |text: &str| text.to_owned();
    let what = match call {
        Call::Owners(name) => What::Owners(text(name)),
        Call::Gem(name) => What::Gem(text(name)),
        Call::Versions(name) => What::Versions(text(name)),
        Call::Latest(name) => What::Latest(text(name)),
        Call::Version(name, number) => What::Version(text(name), text(number), query.value("platform")),
        Call::OwnGems if who.token.is_none() => return Err(Error::AccountMissing),
        Call::OwnGems => What::Own,
        Call::Search => What::Search(words(query)?, page(query)?),
        Call::Complete => What::Complete(asked_for(query)?),
        Call::Newest => What::Newest,
        Call::Updated => What::Updated,
        Call::Between => {
            let (from, until) = span(query, app.clock.now())?;
            What::Between(from, until, page(query)?)
        }
        Call::Dependents(_) => return Err(not_yet("which gems need a gem is not kept")),
        Call::Downloads => return Err(not_yet("downloads are not counted for each gem")),
        // Accounts: no question to a repository.
        Call::Key | Call::Profile | Call::Device | Call::Hooks => return Err(Error::GivenUp),
    };
    let base = format!("{}/repository/{}", app.url, segment(&url.segment));
    Ok(Question::Describe(Describe { what, base, form }))
}

fn not_yet(what: &str) -> Error {
    repository::Error::Unsupported(format!("{what} yet")).into()
}

/// `gem owner` sends a form in the body, also with a DELETE; others use the query.
async fn owner(app: &App, name: &str, request: &mut Request, event: &mut Event) -> Result<Question, Error> {
    let body = request.upload.collect(FORM_BYTES, event).await?;
    let form = std::str::from_utf8(&body).map_err(|_| Error::Input("the form is not UTF-8".into()))?;
    let fields = format!("{form}&{}", request.query().unwrap_or_default());
    let fields = Fields(&fields);
    let person = fields.value("email").filter(|person| !person.is_empty());
    let person = person.ok_or_else(|| Error::Input("`email` is missing: whose ownership?".into()))?;
    let role = match fields.value("role").as_deref() {
        None | Some("" | "owner") => Role::Owner,
        Some("maintainer") => Role::Maintainer,
        Some(other) => {
            let other = Event::text(other);
            return Err(Error::Input(format!("there is no role `{other}`; there are: owner, maintainer")));
        }
    };
    let change = match request.method {
        Method::POST => OwnerChange::Add(role),
        Method::DELETE => OwnerChange::Remove,
        _ => OwnerChange::Become(role),
    };
    // Nobody becomes an owner by a slip of the pen.
    let known = app.access.table(event).await?.tokens().iter().any(|token| token.owner() == person);
    if matches!(change, OwnerChange::Add(_)) && !known {
        return Err(repository::Error::NoSuchOwner.into());
    }
    Ok(Question::Own { name: name.to_owned(), person, change })
}

fn asked_for(query: Fields<'_>) -> Result<String, Error> {
    match query.value("query").filter(|query| !query.trim().is_empty()) {
        Some(query) if query.len() <= QUERY_MAX => Ok(query),
        Some(_) => Err(Error::Input(format!("`query` is longer than {QUERY_MAX} bytes"))),
        None => Err(Error::Input("`query` is missing".into())),
    }
}

fn words(query: Fields<'_>) -> Result<Vec<String>, Error> {
    let words = asked_for(query)?.to_ascii_lowercase();
    let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    if words.len() <= WORDS_MAX {
        Ok(words)
    } else {
        Err(Error::Input(format!("`query` has more than {WORDS_MAX} words")))
    }
}

fn page(query: Fields<'_>) -> Result<usize, Error> {
    match query.value("page").map(|page| page.parse()) {
        None => Ok(1),
        Some(Ok(page)) if (1..=PAGE_MAX).contains(&page) => Ok(page),
        Some(_) => Err(Error::Input(format!("`page` is a number from 1 to {PAGE_MAX}"))),
    }
}

fn span(query: Fields<'_>, now: Millis) -> Result<(Millis, Millis), Error> {
    let moment = |name: &str| query.value(name).map(|text| crate::moment::read(&text)).transpose();
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
        assert_eq!(words(Fields("query=Net++HTTP")).unwrap(), ["net", "http"]);
        let long = format!("query={}", "a".repeat(QUERY_MAX + 1));
        for bad in ["", "query=", "query=+", &*long, "query=a+b+c+d+e+f+g+h+i"] {
            assert!(words(Fields(bad)).is_err(), "{bad}");
        }
        assert_eq!(page(Fields("page=7")).unwrap(), 7);
        for bad in ["page=0", "page=-1", "page=x", "page=1001"] {
            assert!(page(Fields(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_time_is_a_week_at_most() {
        let now = Millis(1_793_534_400_000);
        let told = span(Fields("from=2026-10-31T12:00:00Z"), now).unwrap();
        assert_eq!(told, (Millis(1_793_448_000_000), now));
        assert!(span(Fields("from=2026-10-01&to=2026-10-08"), now).is_ok());
        for bad in ["", "from=x", "from=2026-10-01", "from=2026-10-08&to=2026-10-01"] {
            assert!(span(Fields(bad), now).is_err(), "{bad}");
        }
    }
}
