//! `daylight probe`: where the time of requests goes, seen from a client's machine: on the road, in front of the server, or in it.

mod inside;
mod parts;
mod report;

use super::api::Api;
use super::context::Context;
use super::failure::{Failure, plain};
use super::open_loop::{Made, OpenLoop, Planned};
use super::progress::Bar;
use super::replay::no_answer;
use super::target::{Target, without_user};
use client::{CallTimes, ClientOptions, Request, Secret, Trust};
use http::header::{HeaderMap, HeaderValue, USER_AGENT};
use inside::Insides;
use report::Report;
use std::future::pending;
use std::pin::pin;
use std::time::Duration;

const OPTIONS: ClientOptions = ClientOptions {
    connect_timeout: Duration::from_secs(30),
    total_timeout: Duration::from_secs(120),
    max_body_bytes: 64 << 20,
    trust: Trust::MACHINE,
};
/// The most connections at the same time.
const CONNECTIONS: usize = 64;

/// Find out where the time of requests goes: on the road, in front of the server, or in it
///
/// Sends GET requests for URL at a fixed timetable, every other one on a new connection, and times their parts. Then it asks the server how long
/// each of these requests took in it, by the id in its `Daylight-Event`. The difference was spent outside. Only durations count, so clocks need
/// not agree.
///
/// The server is asked with DAYLIGHT_TOKEN, which needs the scope `observe`, and is sent to URL, too. It is asked at --server or DAYLIGHT_SERVER,
/// otherwise at the host of URL. Without a token the header `Server-Timing` tells the time inside, if the server sends it
/// (`telemetry.server_timing`).
#[derive(Debug, clap::Args)]
pub(super) struct ProbeCommand {
    /// URL of a file, or of `/health/live`
    url: String,
    /// How many requests
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(2..=1000))]
    count: u16,
    /// From the beginning of a request to that of the next, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 250, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    every_ms: u32,
}

/// A request that was answered.
#[derive(Debug)]
struct Probe {
    times: CallTimes,
    status: u16,
    /// The id of its event; empty where the answer has none.
    event: String,
    /// The time in the server that the answer tells, in milliseconds.
    told_ms: Option<f64>,
}

/// What came of the requests.
#[derive(Debug, Default)]
struct Probes {
    answered: Vec<Probe>,
    failed: Vec<client::Error>,
    /// `Via` and `Server` of answers, without repetitions.
    proxies: Vec<String>,
    /// How late the last to begin began, in nanoseconds.
    late: u64,
}

impl ProbeCommand {
    pub(super) fn run(self, context: &mut Context<'_>) -> anyhow::Result<()> {
        let Some(root) = root(&self.url) else {
            let hint = "name a file, such as `https://HOST/repository/NAME/FILE`, or `https://HOST/health/live`";
            return Err(
                Failure::usage(format!("`{}` is not a URL that can be asked", without_user(&self.url)), hint).into()
            );
        };
        let server = Target::or(&root, context)?;
        let mut probes = self.probe(&server)?;
        if probes.answered.is_empty() {
            let Some(first) = probes.failed.pop() else { return Ok(()) };
            return Err(no_answer(&self.url, &first).into());
        }
        let insides = Insides::ask(&Api::of(server, context)?, &probes.answered);
        let report = Report::new(&self.url, &probes, &insides);
        match context.flags.json {
            true => writeln!(context.out, "{:#}", report.json())?,
            false => report.write(context.out)?,
        }
        Ok(())
    }

    fn probe(&self, server: &Target) -> anyhow::Result<Probes> {
        let every = Duration::from_millis(self.every_ms.into());
        // The first has no connection that it could use again.
        let planned = |n: u16| Planned { at: every * u32::from(n), alone: n.is_multiple_of(2) };
        let timetable: Vec<Planned> = (0..self.count).map(planned).collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let mut open_loop = OpenLoop::new(ClientOptions { trust: server.trust.clone(), ..OPTIONS }, CONNECTIONS);
        let (mut probes, bar) = (Probes::default(), Bar::new());
        let mut done = 0;
        open_loop.run(
            &runtime,
            &timetable,
            &|_| request(&self.url, server.token.clone()),
            &mut |made| {
                done += 1;
                bar.show(store::Progress { of: "asked", total: self.count.into(), done });
                probes.take(made);
                true
            },
            pin!(pending::<()>()),
        )?;
        Ok(probes)
    }
}

/// The server of a URL: without path and query. `None`: it cannot be called.
fn root(url: &str) -> Option<String> {
    client::host_of(url)?;
    let uri: http::Uri = url.parse().ok()?;
    Some(format!("{}://{}", uri.scheme_str()?, uri.authority()?))
}

fn request(url: &str, token: Option<Secret>) -> Request {
    let headers = HeaderMap::from_iter([(USER_AGENT, HeaderValue::from_static("daylight-probe"))]);
    Request { url: url.to_owned(), headers, token, ..Request::default() }
}

impl Probes {
    fn take(&mut self, made: Made) {
        self.late = self.late.max(made.late);
        let answer = match made.answer {
            Ok(answer) => answer,
            Err(error) => return self.failed.push(error),
        };
        let header = |name: &str| answer.headers.get(name).and_then(|value| value.to_str().ok());
        for name in ["Via", "Server"] {
            let told = header(name).map(|value| format!("{name}: {}", plain(value)));
            self.proxies.extend(told.filter(|told| !self.proxies.contains(told)));
        }
        self.answered.push(Probe {
            times: made.times,
            status: answer.status.as_u16(),
            event: header("Daylight-Event").unwrap_or_default().to_owned(),
            told_ms: header("Server-Timing").and_then(told_ms),
        });
    }
}

/// The whole time in a header `Server-Timing`, in milliseconds.
fn told_ms(header: &str) -> Option<f64> {
    let total = header.split(',').find_map(|metric| metric.trim().strip_prefix("total;dur="))?;
    total.parse().ok().filter(|ms| (0.0..1e9).contains(ms))
}

/// Nanoseconds as milliseconds.
pub(super) fn ms(nanos: u64) -> f64 {
    nanos as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_of_a_url_is_the_url_without_its_path() {
        assert_eq!(root("https://a.test:81/repository/m/a?b").as_deref(), Some("https://a.test:81"));
        assert_eq!(root("http://[::1]:81").as_deref(), Some("http://[::1]:81"));
        for wrong in ["a.test/b", "ftp://a.test/", "http://me:hush@a.test/", ""] {
            assert_eq!(root(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_time_that_an_answer_tells_is_its_total() {
        assert_eq!(told_ms("truth.read;dur=1.204, total;dur=1.31"), Some(1.31));
        assert_eq!((told_ms("db;dur=5"), told_ms("total;dur=x"), told_ms("total;dur=-1")), (None, None, None));
    }
}
