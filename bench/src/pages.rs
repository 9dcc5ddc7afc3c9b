//! Web pages for people: searches among many names, levels of large folders, the size and the processor time of each page, and
//! page hits of clients while tabs load pages.

mod browse;
mod costs;
mod fill;
mod search;
mod tabs;

use crate::corpus::{self, GEMS};
use crate::process::{Server, load_average};
use anyhow::{Context, Result, ensure};

/// The number of artifacts and of folders of versions, unless `PAGES_ARTIFACTS` sets another.
const ARTIFACTS: usize = 500_000;
/// The least and the most that the pages in the middle and the names allow.
const ARTIFACTS_RANGE: std::ops::RangeInclusive<usize> = 20_000..=1_000_000;

/// Measures and prints the row.
pub(crate) fn row() -> Result<()> {
    let (gems, artifacts) = (number("PAGES_GEMS", GEMS)?, number("PAGES_ARTIFACTS", ARTIFACTS)?);
    ensure!(gems >= 1000, "`PAGES_GEMS` is at least 1000");
    ensure!(ARTIFACTS_RANGE.contains(&artifacts), "`PAGES_ARTIFACTS` is a number in {ARTIFACTS_RANGE:?}");
    let logs = tempfile::tempdir()?;
    println!("\n## Searches, {gems} gems and {artifacts} artifacts");
    let data = corpus::kept(&format!("pages-{gems}-{artifacts}"), |folder| fill::names(folder, gems, artifacts))?;
    let server = Server::daylight_on(&data, logs.path(), &[])?;
    search::measure(&server, gems, artifacts)?;
    costs::measure(&server)?;
    tabs::measure(&server)?;
    drop(server);
    let data = corpus::kept(&format!("levels-{artifacts}"), |folder| fill::levels(folder, artifacts))?;
    let server = Server::daylight_on(&data, logs.path(), &[])?;
    browse::measure(&server, artifacts)?;
    println!("\nload average after it: {}", load_average()?);
    Ok(())
}

fn number(name: &str, default: usize) -> Result<usize> {
    std::env::var(name)
        .map_or(Ok(default), |text| text.replace('_', "").parse())
        .with_context(|| format!("`{name}` is a number"))
}

/// The bytes of a request of a browser.
fn request(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/html\r\n\r\n").into_bytes()
}

/// The figure that this part (0 to 1) of the figures does not exceed.
fn quantile(figures: &mut [f64], part: f64) -> f64 {
    figures.sort_by(f64::total_cmp);
    let at = ((figures.len() as f64 * part) as usize).min(figures.len().saturating_sub(1));
    figures.get(at).copied().unwrap_or(f64::NAN)
}
