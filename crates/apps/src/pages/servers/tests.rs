//! Reads of servers: real ones, and scripted ones that do what no real one does.

mod faults;
mod memcached;
mod real;
mod redis;
mod scripted;
mod settings;

use super::*;
use crate::options::PageFormat;
use telemetry::Clock;
use tokio::task::LocalSet;

/// Runs a test on a core.
fn on_core<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(LocalSet::new().run_until(test))
}

fn options(urls: &[String]) -> PagesOptions {
    // Long, so that a busy machine fails no test.
    let timeout = std::time::Duration::from_secs(20);
    PagesOptions { servers: urls.to_vec(), timeout, ..PagesOptions::of(PageFormat::Hc1) }
}

fn servers(options: &PagesOptions) -> Arc<Servers> {
    Servers::new(&"shop".into(), options, &Recorder::silent(Clock::default())).unwrap()
}

fn ask(key: &str) -> Ask {
    Ask { key: Bytes::copy_from_slice(key.as_bytes()), known: None, early_s: None }
}

/// A read of one key.
async fn read(servers: &Servers, ask: Ask) -> Answer {
    let mut answers = servers.read(&[ask]).await;
    assert_eq!(answers.len(), 1);
    answers.remove(0)
}

fn item(answer: Answer) -> Item {
    match answer {
        Answer::Item(item) => item,
        other => panic!("it is no item: {other:?}"),
    }
}
