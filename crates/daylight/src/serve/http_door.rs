//! Plain HTTP beside TLS: answers the questions of an authority, sends readers to `https`, and refuses everything else.

use crate::app::App;
use crate::config::Settings;
use crate::error::{Error, Result};
use crate::reply::audience::Audience;
use crate::reply::{plain_http, refusal};
use crate::route::plain_http::{Ports, challenge, secure_url};
use crate::serve::door::Door;
use front::{Answering, Handler, Listener, Reply, Request};
use http::{HeaderMap, Method, header};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use telemetry::{Event, Op};

/// The headers with credentials: tokens of all clients, and sessions of browsers.
const KEYS: [&str; 2] = ["authorization", "cookie"];

/// Binds the address of the settings, unless there is a socket for it already. `None`: the settings have none.
pub(crate) fn listener(settings: &Settings, passed: Option<Listener>) -> anyhow::Result<Option<Listener>> {
    let Some(address) = settings.server.http_listen.0 else { return Ok(None) };
    Ok(Some(passed.map_or_else(|| Listener::bind(address), Ok)?))
}

/// The door to a server that listens at `secure` with TLS.
pub(crate) fn open(
    listener: Listener,
    app: &Arc<App>,
    settings: &Settings,
    secure: SocketAddr,
) -> anyhow::Result<Door> {
    let ports = Ports { http: listener.local_addr()?.port(), https: secure.port() };
    let public = settings.server.public_url.0.clone();
    let handler = Arc::new(HttpDoor { app: app.clone(), public, ports, warned: AtomicBool::new(false) });
    Ok(Door { listener, certificate: None, handler })
}

struct HttpDoor {
    app: Arc<App>,
    /// `server.public_url`.
    public: Option<String>,
    ports: Ports,
    /// Whether the log has named a client that sent credentials.
    warned: AtomicBool,
}

impl Handler for HttpDoor {
    /// An authority asks once, and the certificate depends on it.
    fn is_vital(&self, request: &Request) -> bool {
        challenge(request.path()).is_some()
    }

    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a> {
        Box::pin(async move {
            let answer = match challenge(request.path()).filter(|_| reads(request)) {
                Some(token) => self.proof(token, request, event).await,
                None => event.time(Op::Route, || self.answered(request)),
            };
            answer.unwrap_or_else(|error| {
                event.reason = Some(error.reason());
                let audience = Audience::of(&request.headers);
                let (id, now) = (event.id, self.app.clock.now());
                event.time(Op::ReplyMake, || refusal(&error, (audience, None), request, None, (id, now)))
            })
        })
    }
}

impl HttpDoor {
    /// The answer to an authority.
    async fn proof(&self, token: &str, request: &Request, event: &mut Event) -> Result<Reply> {
        let proof = match self.app.acme.get() {
            Some(acme) => acme.http_answer(token, event).await,
            None => None,
        };
        proof.map(plain_http::proof).ok_or_else(|| Error::NoSuchRoute(Event::text(request.path())))
    }

    fn answered(&self, request: &Request) -> Result<Reply> {
        let reads = reads(request);
        let sent_key = sends_a_key(&request.headers);
        if sent_key {
            self.warn(request);
        }
        let url = secure_url(request, self.public.as_deref(), self.ports);
        match url {
            Some(url) if reads => Ok(plain_http::to_https(url)),
            None if reads => {
                Err(Error::Input("the request names no valid host, so it cannot be redirected".to_owned()))
            }
            url => Err(Error::PlainHttp { method: Event::text(request.method.as_str()), url, sent_key }),
        }
    }

    /// Logs, once, that a client sends credentials over plain HTTP.
    fn warn(&self, request: &Request) {
        if !self.warned.swap(true, Relaxed) {
            let message = "a client sent credentials over plain HTTP, where others can read them on the way";
            let client = self.app.recorder.client_addresses().text(request.client);
            let agent =
                request.headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
            let hint = "give the client the URL with `https`, and make a new token in place of the one that it sends";
            let agent = Event::text(agent);
            self.app.log.warn(message, &[("client", &client), ("agent", &agent), ("hint", &hint)]);
        }
    }
}

fn reads(request: &Request) -> bool {
    matches!(request.method, Method::GET | Method::HEAD)
}

fn sends_a_key(headers: &HeaderMap) -> bool {
    KEYS.iter().any(|name| headers.contains_key(*name))
}
