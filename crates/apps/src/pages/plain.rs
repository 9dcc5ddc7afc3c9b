//! Plain requests for a page in memory: they only wait for its store to say that it still has it, and need no table of headers.

use super::Pages;
use super::accepts::Accepts;
use super::kept::{KeptEntry, Place};
use super::made::Life;
use super::servers::{Answer, Ask};
use super::wanted::{has_switch, split};
use crate::app::App;
use crate::cache::key::KeyRef;
use crate::options::{PageFormat, PagesOptions};
use format::page::coding::Coding;
use format::page::key::stored_coding;
use front::{Confirming, PlainHead, StoredReply};
use std::sync::Arc;
use telemetry::{Layer, PageOutcome, Subject};

/// Headers by which a request may want another answer than the page. It takes the whole way, which decides.
const OTHERS: [&str; 6] =
    ["authorization", "cache-control", "pragma", "x-http-method-override", "x-method-override", "x-http-method"];

/// The page in memory for a request for `host`, to be confirmed by its store: the present version of a page of response_bank or cacheable.
/// `None`: there is none, or the request is none that only a page can answer.
pub(crate) fn confirmed(app: &Arc<App>, head: &PlainHead<'_>, host: &str) -> Option<Confirming> {
    let pages = app.pages.as_ref().filter(|pages| pages.options.format != PageFormat::Hc1)?;
    let (accepts, coding) = asked(&pages.options, head)?;
    let known = pages.kept.get(&Place { host: "", target: head.target, coding })?;
    let made = known.page()?;
    let url = KeyRef::new(head.tls, host, head.target)?;
    let is_present = matches!(made.life, Life::Version { present: true });
    if !is_present || made.form(accepts).is_none() || made.is_purged(&pages.purges, &url) {
        return None;
    }
    let (app, subject) = (app.clone(), Subject { repository: app.name.clone(), ..Subject::default() });
    let reply = Box::pin(async move {
        let pages = app.pages.as_ref()?;
        if !pages.holds(&known).await {
            return None;
        }
        pages.kept.found(true);
        pages.count(PageOutcome::Hit);
        let made = known.page()?;
        let form = made.form(accepts)?;
        Some(StoredReply {
            status: made.status,
            head: form.head(made.status),
            age: None,
            body: form.body.clone(),
            file: pages.copies.of(&form.body, &form.copy),
            layer: Layer::AppPages,
            subject: Subject { repository: app.name.clone(), ..Subject::default() },
        })
    });
    Some(Confirming { subject, reply })
}

/// What a request asks for: the codings that it accepts, and the one in the key of its page.
fn asked(options: &PagesOptions, head: &PlainHead<'_>) -> Option<(Accepts, Coding)> {
    let mut sent = None;
    for line in head.lines {
        let is = |name: &str| line.name.eq_ignore_ascii_case(name);
        let is_other = OTHERS.iter().any(|name| is(name)) || line.name.contains('_');
        if is_other || (is("cookie") && !options.bypass_cookies.is_empty()) {
            return None;
        }
        if is("accept-encoding") && sent.replace(line.value).is_some() {
            return None;
        }
    }
    let (_, query) = split(head.target);
    (!has_switch(query)).then(|| (Accepts::of(head), stored_coding(sent.unwrap_or_default())))
}

impl Pages {
    /// Whether the store still has an entry, and no other one that comes before it.
    async fn holds(&self, known: &KeptEntry) -> bool {
        let earlier = known.earlier.iter().cloned().map(Ask::item);
        let asks: Vec<Ask> = earlier.chain([known.ask()]).collect();
        let mut answers = self.servers.read(&asks).await;
        let own = answers.pop();
        let is_same = match &own {
            Some(Answer::Unchanged { .. }) => true,
            Some(Answer::Item(item)) => known.is(item),
            _ => false,
        };
        is_same && answers.iter().all(|answer| *answer == Answer::Missing)
    }
}
