//! The applications of one listening address, by host.

use crate::app::App;
use crate::options::{AppOptions, BadApp};
use crate::pages::plain;
use crate::view::AppView;
use front::{Answering, Confirming, Handler, PlainHead, Proxies, Reply, Request, StoredReply};
use http::StatusCode;
use std::sync::Arc;
use telemetry::{Class, Event, Layer, Millis, Reason, Recorder, Subject};

/// The applications of one listening address.
#[derive(Debug)]
pub struct Apps {
    apps: Vec<Arc<App>>,
}

impl Apps {
    /// Applications with these settings. `proxies`: those whose headers tell of the client; the options of the front have the same.
    /// Fails where two applications have the same name or the same host, or the settings of one cannot be used.
    pub fn new(apps: Vec<AppOptions>, proxies: &Proxies, recorder: &Arc<Recorder>) -> Result<Arc<Self>, BadApp> {
        let proxies = Arc::new(proxies.clone());
        let mut all: Vec<Arc<App>> = Vec::new();
        for options in apps {
            if all.iter().any(|app| app.options.name == options.name) {
                let what = "another application has the same name".to_owned();
                return Err(BadApp { app: options.name, what, hint: "give each application a name of its own" });
            }
            if let Some(taken) = all.iter().find_map(|app| shared_host(&app.options, &options)) {
                let what = match taken.as_str() {
                    "" => "another application of its address has no hosts either".to_owned(),
                    host => format!("another application of its address has the host `{host}` too"),
                };
                return Err(BadApp { app: options.name, what, hint: "give each application hosts of its own" });
            }
            all.push(App::new(options, proxies.clone(), recorder)?);
        }
        Ok(Arc::new(Self { apps: all }))
    }

    /// The state of each application.
    pub fn view(&self) -> Vec<AppView> {
        self.apps.iter().map(|app| app.view()).collect()
    }

    /// Drops stored responses and pages of the application `name`: of these URLs, and with these tags. Returns how many were in memory;
    /// `None`: there is no such application.
    pub fn purge(&self, name: &str, urls: &[String], tags: &[String]) -> Option<u64> {
        let app = self.apps.iter().find(|app| app.options.name == name)?;
        Some(app.cache.purge(urls, tags) + app.pages.as_ref().map_or(0, |pages| pages.purge(urls, tags)))
    }

    /// Watches the health of all backends. Never ends; to be run in the background.
    pub async fn watch(self: Arc<Self>) {
        let mut watches: Vec<_> = self.apps.iter().map(|app| Box::pin(app.backends.clone().watch())).collect();
        std::future::poll_fn(|cx| {
            for watch in &mut watches {
                let _ = watch.as_mut().poll(cx);
            }
            std::task::Poll::<()>::Pending
        })
        .await
    }

    /// How many WebSockets and event streams are open.
    pub fn streams(&self) -> u64 {
        self.apps.iter().map(|app| app.streams.bound().used()).sum()
    }

    /// Ends all WebSockets and event streams: event streams as if the application had ended them, WebSockets by closing both connections.
    pub fn end_streams(&self) {
        self.apps.iter().for_each(|app| app.streams.end());
    }

    /// The application of a host, as a request names it.
    pub(crate) fn of(&self, host: &str) -> Option<&Arc<App>> {
        let host = bare(host);
        // Of several patterns, the longest one says the most about the host.
        let named = |is: fn(&str, &str) -> bool| {
            let patterns = self.apps.iter().flat_map(|app| app.options.hosts.iter().map(move |pattern| (app, pattern)));
            let matching = patterns.filter(|(_, pattern)| is(bare(pattern), host));
            matching.max_by_key(|(_, pattern)| bare(pattern).len()).map(|(app, _)| app)
        };
        let any = || self.apps.iter().find(|app| app.options.hosts.is_empty());
        named(str::eq_ignore_ascii_case).or_else(|| named(is_below)).or_else(any)
    }
}

impl Handler for Apps {
    fn stored(&self, head: &PlainHead<'_>, now: Millis) -> Option<StoredReply> {
        let host = std::str::from_utf8(head.values("host").next()?).ok()?;
        let app = self.of(host)?;
        app.cache.plain(head, host, now, || Subject { repository: app.name.clone(), ..Subject::default() })
    }

    fn confirmed(&self, head: &PlainHead<'_>) -> Option<Confirming> {
        let host = std::str::from_utf8(head.values("host").next()?).ok()?;
        plain::confirmed(self.of(host)?, head, host)
    }

    fn answer<'a>(&'a self, request: &'a mut Request, event: &'a mut Event) -> Answering<'a> {
        Box::pin(async move {
            event.class = Some(Class::Apps);
            let Some(app) = self.of(request.host().unwrap_or_default()) else {
                event.reason = Some(Reason::NoSuchApp);
                return Reply::text(StatusCode::MISDIRECTED_REQUEST, "no application here has this host name\n");
            };
            event.layer = Layer::App;
            event.subject.repository = app.name.clone();
            app.answer(request, event).await
        })
    }
}

/// A host without its port and without the dot of a full name.
fn bare(host: &str) -> &str {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.strip_suffix('.').unwrap_or(name)
}

/// Whether `host` is a name below that of a pattern `*.NAME`.
fn is_below(pattern: &str, host: &str) -> bool {
    let Some(above) = pattern.strip_prefix('*').filter(|above| above.starts_with('.')) else { return false };
    let at = host.len().checked_sub(above.len()).filter(|at| *at > 0 && host.is_char_boundary(*at));
    at.is_some_and(|at| host[at..].eq_ignore_ascii_case(above))
}

/// A host that both applications have; empty: neither names one.
fn shared_host(one: &AppOptions, other: &AppOptions) -> Option<String> {
    if one.hosts.is_empty() && other.hosts.is_empty() {
        return Some(String::new());
    }
    let has = |host: &&String| one.hosts.iter().any(|mine| bare(mine).eq_ignore_ascii_case(bare(host)));
    other.hosts.iter().find(has).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(name: &str, hosts: &[&str]) -> AppOptions {
        let hosts = hosts.iter().map(|host| (*host).to_owned()).collect();
        AppOptions { hosts, to: vec!["http://127.0.0.1:3000".to_owned()], ..AppOptions::of(name) }
    }

    fn apps(apps: Vec<AppOptions>) -> Result<Arc<Apps>, BadApp> {
        Apps::new(apps, &Proxies::default(), &Recorder::silent(telemetry::Clock::default()))
    }

    #[test]
    fn an_exact_host_comes_before_a_wildcard_and_a_wildcard_before_no_host() {
        let apps = apps(vec![
            app("any", &[]),
            app("below", &["*.example.com"]),
            app("shop", &["shop.example.com"]),
            app("deep", &["*.deep.example.com"]),
        ])
        .unwrap();
        for (host, name) in [
            ("shop.example.com", "shop"),
            ("SHOP.Example.COM.:8080", "shop"),
            ("a.example.com", "below"),
            ("a.b.EXAMPLE.com:80", "below"),
            ("example.com", "any"),
            (".example.com", "any"),
            ("badexample.com", "any"),
            ("[::1]:80", "any"),
            ("[::1]", "any"),
            ("", "any"),
            ("xü.example.com", "below"),
            ("deep.example.com", "below"),
            ("a.deep.example.com", "deep"),
        ] {
            assert_eq!(apps.of(host).unwrap().options.name, name, "{host}");
        }
    }

    #[test]
    fn a_host_of_no_application_has_none_and_no_two_applications_have_the_same_one() {
        assert!(apps(vec![app("shop", &["shop.example.com"])]).unwrap().of("other.example.com").is_none());
        for hosts in [&[][..], &["*.EXAMPLE.com."], &["a", "c"]] {
            let error = apps(vec![
                app("one", &[&["b"][..], hosts].concat()[usize::from(hosts.is_empty())..]),
                app("two", hosts),
            ]);
            assert_eq!(error.unwrap_err().app, "two");
        }
        for (one, two, wrong) in [("shop", "shop", "shop"), ("shop", "Two", "Two")] {
            let error = apps(vec![app(one, &["a"]), app(two, &["b"])]);
            assert_eq!(error.unwrap_err().app, wrong);
        }
    }
}
