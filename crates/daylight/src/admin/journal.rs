//! `/api/v1/journal`: who changed what, and when.

use crate::access::{self, Caller};
use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::pagination;
use format::percent::Form;
use repository::{CHANGE_KINDS, JournalQuery, Scope, moment};
use serde_json::{Value, json};
use telemetry::Event;

/// The kind of changes that only administrators see, as only they list tokens.
const TOKEN: &str = "token";

pub(super) async fn list(app: &App, query: &str, caller: &Caller, event: &mut Event) -> Result<Value> {
    let mut query = read(query)?;
    if let Some(token) = caller.token.as_ref().filter(|token| !token.allows(Scope::Admin, None)) {
        let asked = if query.kinds.is_empty() { CHANGE_KINDS } else { &query.kinds };
        query.kinds = asked.iter().copied().filter(|kind| *kind != TOKEN).collect();
        if query.kinds.is_empty() {
            let (token, scope) = (token.record.name.clone(), Scope::Admin);
            let (suggested, signed_in) = (Box::default(), None);
            return Err(access::Error::ScopeMissing { token, scope, repository: None, suggested, signed_in }.into());
        }
    }
    Ok(json!(app.repositories.journal(query, event).await?))
}

fn read(query: &str) -> Result<JournalQuery> {
    let text = |name: &str| Form(query).value(name).filter(|value| !value.is_empty());
    let number = |name: &str| {
        let number = text(name).map(|digits| digits.parse::<u64>());
        number.transpose().map_err(|_| Error::Input(format!("`{name}` is the number of a change")))
    };
    let instant = |name: &str| text(name).map(|text| moment::read(&text)).transpose();
    let known = |kind: &str| {
        CHANGE_KINDS.iter().copied().find(|known| *known == kind).ok_or_else(|| {
            let kinds = CHANGE_KINDS.join("`, `");
            Error::Input(format!("`{}` is no kind of change; there are `{kinds}`", Event::text(kind)))
        })
    };
    let (mut kinds, mut without) = (Vec::new(), Vec::new());
    for kind in text("kind").iter().flat_map(|kinds| kinds.split(',')) {
        match kind.strip_prefix('-') {
            Some(kind) => without.push(known(kind)?),
            None => kinds.push(known(kind)?),
        }
    }
    if kinds.is_empty() && !without.is_empty() {
        kinds = CHANGE_KINDS.to_vec();
    }
    kinds.retain(|kind| !without.contains(kind));
    Ok(JournalQuery {
        repository: text("repository"),
        by: text("by"),
        kinds,
        since: instant("since")?,
        until: instant("until")?,
        after: number("after")?,
        before: number("before")?,
        limit: pagination::limit(query)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lookup::pagination::LIMIT_MAX;

    #[test]
    fn a_query_without_parameters_asks_for_the_newest_changes() {
        assert_eq!(read("").unwrap(), JournalQuery { limit: LIMIT_MAX, ..JournalQuery::default() });
        let asked = read("repository=gems&by=ci&kind=yank,delete&after=7&limit=2").unwrap();
        assert_eq!((asked.repository.as_deref(), asked.by.as_deref()), (Some("gems"), Some("ci")));
        assert_eq!((asked.kinds, asked.after, asked.limit), (vec!["yank", "delete"], Some(7), 2));
    }

    #[test]
    fn what_is_no_number_no_moment_and_no_kind_is_refused_and_kinds_are_named() {
        for bad in ["after=x", "before=-1", "limit=0", "limit=1001", "since=yesterday", "until=x"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read("kind=push").unwrap_err().to_string().contains("`publish`, `change`, `yank`"));
    }
}
