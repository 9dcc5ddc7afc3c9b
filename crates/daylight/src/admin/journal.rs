//! `/api/v1/journal`: who changed what, and when.

use super::pagination;
use crate::app::App;
use crate::error::Error;
use format::percent::Form;
use repository::{CHANGE_KINDS, JournalQuery, ListedChange, moment};
use serde_json::{Value, json};
use store::Seq;
use telemetry::Event;

pub(super) async fn list(app: &App, query: &str, event: &mut Event) -> Result<Value, Error> {
    let page = app.repositories.journal(read(query)?, event).await?;
    let rows: Vec<Value> = page.rows.iter().map(to_json).collect();
    let number = |seq: Option<Seq>| seq.map(|seq| seq.0);
    Ok(json!({ "rows": rows, "next": number(page.next), "earlier": number(page.earlier) }))
}

fn to_json(row: &ListedChange) -> Value {
    let mut shown = json!({
        "seq": row.seq,
        "at": row.at.to_string(),
        "by": row.by,
        "from": row.from,
        "kind": row.kind,
        "repository": row.repository,
        "package": row.package,
        "version": row.version,
    });
    if let Some(name) = &row.name {
        shown["name"] = name.as_str().into();
    }
    if let Some(what) = &row.what {
        shown["what"] = Event::text(what).into();
    }
    shown
}

fn read(query: &str) -> Result<JournalQuery, Error> {
    let text = |name: &str| Form(query).value(name).filter(|value| !value.is_empty());
    let number = |name: &str| {
        let number = text(name).map(|digits| digits.parse::<u64>());
        number.transpose().map_err(|_| Error::Input(format!("`{name}` is the number of a change")))
    };
    let instant = |name: &str| text(name).map(|text| moment::read(&text)).transpose();
    let kind = text("kind");
    if let Some(kind) = kind.as_deref().filter(|kind| !CHANGE_KINDS.contains(kind)) {
        let kinds = CHANGE_KINDS.join("`, `");
        return Err(Error::Input(format!("`{}` is no kind of change; there are `{kinds}`", Event::text(kind))));
    }
    Ok(JournalQuery {
        repository: text("repository"),
        by: text("by"),
        kind,
        since: instant("since")?,
        until: instant("until")?,
        after: number("after")?,
        before: number("before")?,
        limit: pagination::limit(query)?,
    })
}

#[cfg(test)]
mod tests {
    use super::pagination::LIMIT_MAX;
    use super::*;

    #[test]
    fn a_query_without_parameters_asks_for_the_newest_changes() {
        assert_eq!(read("").unwrap(), JournalQuery { limit: LIMIT_MAX, ..JournalQuery::default() });
        let asked = read("repository=gems&by=ci&kind=yank&after=7&limit=2").unwrap();
        assert_eq!((asked.repository.as_deref(), asked.by.as_deref()), (Some("gems"), Some("ci")));
        assert_eq!((asked.kind.as_deref(), asked.after, asked.limit), (Some("yank"), Some(7), 2));
    }

    #[test]
    fn what_is_no_number_no_moment_and_no_kind_is_refused_and_kinds_are_named() {
        for bad in ["after=x", "before=-1", "limit=0", "limit=1001", "since=yesterday", "until=x"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read("kind=push").unwrap_err().to_string().contains("`publish`, `change`, `yank`"));
    }
}
