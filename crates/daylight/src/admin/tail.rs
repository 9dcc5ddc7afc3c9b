//! `/api/v1/tail`: finished events as they come, as Server-Sent Events.

use crate::access::Access;
use crate::app::App;
use crate::error::{Error, Result};
use crate::lookup::pagination::flag;
use crate::nodes::tail::OtherTails;
use crate::nodes::{self, Others};
use crate::reply;
use bytes::Bytes;
use format::percent::Form;
use front::{Live, LiveSource, Reply, Request};
use http::HeaderMap;
use insight::{Filter, Listener, NoPlace};
use repository::Scope;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use telemetry::{Clock, Event};

/// After a silence of this length the client gets a comment. Proxies close a connection that is silent for a minute.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// A comment, which clients ignore.
const COMMENT: &[u8] = b":\n\n";

/// Begins to listen. The cost class has its place back with the reply: listeners have a bound of their own.
pub(super) async fn answer(app: &App, query: &str, request: &Request, event: &mut Event) -> Result<Reply> {
    let (id, class, others) = if nodes::is_of_node(app, request) {
        (Form(query).value("caller").and_then(|caller| caller.parse().ok()).unwrap_or_default(), None, None)
    } else {
        let caller = app.access.server(request, Scope::Observe, false, event).await?;
        let class = caller.token.map(|token| token.class);
        (class.unwrap_or_default(), class, Others::of(app, request)?)
    };
    let filter = Filter::from_text(&Form(query).value("where").unwrap_or_default(), app.clock.now());
    let filter = filter.map_err(|error| Error::Input(format!("`where` cannot be read: {error}")))?;
    let what = "listeners to live events";
    let listener = app.tail.listen(filter, flag(query, "all")?, id).map_err(|why| match why {
        NoPlace::Full => Error::Busy { what, setting: Some("server.max_tails") },
        NoPlace::OfCaller => Error::BusyForOne { what },
    })?;
    let headers = request.headers.clone();
    let caller = Caller { access: app.access.clone(), clock: app.clock.clone(), headers, class };
    let others = others.map(|others| OtherTails::listen(&app.store, &others, query, id));
    let messages = Messages { listener, others, caller: Arc::new(caller), check: None };
    Ok(reply::live(Live::new(messages, HEARTBEAT, Bytes::from_static(COMMENT))))
}

/// The messages for a listener, for as long as its token is valid.
struct Messages {
    listener: Listener,
    others: Option<OtherTails>,
    caller: Arc<Caller>,
    /// The tokens are being read again.
    check: Option<Pin<Box<dyn Future<Output = bool> + Send>>>,
}

/// The caller whose connection gets the events.
struct Caller {
    access: Arc<Access>,
    clock: Clock,
    headers: HeaderMap,
    /// The class of their token, if they came with one.
    class: Option<u64>,
}

impl Caller {
    /// Whether the token is surely the same and valid.
    fn is_known(&self) -> bool {
        self.class.is_none() || self.access.class(&self.headers).map(|(class, _)| class) == self.class
    }

    /// Whether the token is still known, after the tokens were read again where they must. Like other questions of operators, a listener goes
    /// on while this node cannot know whether another one has revoked the token.
    async fn is_valid(self: Arc<Self>) -> bool {
        let mut event = Event::job("tail", self.clock.now());
        self.access.holder(&self.headers, &mut event).await.is_ok_and(|class| class == self.class)
    }
}

impl LiveSource for Messages {
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        // This is called for each piece, and after each silence.
        if self.check.is_none() && !self.caller.is_known() {
            self.check = Some(Box::pin(self.caller.clone().is_valid()));
        }
        if let Some(check) = &mut self.check {
            let is_valid = ready!(check.as_mut().poll(cx));
            self.check = None;
            if !is_valid {
                return Poll::Ready(None);
            }
        }
        let Some(others) = &mut self.others else {
            return self.listener.poll_next(cx).map(|messages| messages.map(Bytes::from));
        };
        let (own, of_others) = (self.listener.poll_next(cx), others.poll(cx));
        match own {
            Poll::Ready(Some(own)) => Poll::Ready(Some([others.named(&own), of_others.into()].concat().into())),
            Poll::Pending if !of_others.is_empty() => Poll::Ready(Some(of_others)),
            own => own.map(|messages| messages.map(Bytes::from)),
        }
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The headers have a secret.
        f.debug_struct("Messages").finish_non_exhaustive()
    }
}
