//! The downloads of a package by day: the values of the API and of the page.

use crate::{Links, Moment, Shell};
use askama::Template;
use schemars::JsonSchema;
use serde::Serialize;

/// Downloads through one repository: gems, or artifacts beside their POMs.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Downloads {
    /// The repository as the URL names it.
    pub repository: String,
    /// The name of the package.
    pub package: String,
    /// The oldest event of these days that is kept; null: none is.
    pub known_since: Option<Moment>,
    /// Whether each download was counted; if not, the numbers are estimates from a sample.
    pub exact: bool,
    /// Whether all events of the time were read.
    pub complete: bool,
    /// The sum of the days.
    pub total: u64,
    /// The newest first.
    pub days: Vec<Day>,
}

/// The downloads of a day.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Day {
    /// In UTC.
    #[schemars(extend("format" = "date"))]
    pub day: String,
    /// Null: no event of this day is kept.
    pub downloads: Option<u64>,
}

/// The page about the downloads of a package.
#[derive(Debug, Template)]
#[template(path = "downloads.html")]
pub struct DownloadsPage<'a> {
    /// The parts around it.
    pub shell: &'a Shell,
    /// The downloads.
    pub downloads: &'a Downloads,
}

/// The width and the height of the picture, and the space of one day.
const WIDTH: u64 = 600;
const HEIGHT: u64 = 120;

/// A bar of the picture.
struct Bar {
    x: u64,
    y: u64,
    width: u64,
    height: u64,
}

impl Downloads {
    /// The URL of its package.
    pub fn package_url(&self, links: &Links) -> String {
        links.package(&self.repository, &self.package)
    }

    /// The bars of the picture, the oldest day first. A day with a download has a bar that can be seen.
    fn bars(&self) -> Vec<Bar> {
        let most = self.days.iter().filter_map(|day| day.downloads).max().unwrap_or_default().max(1);
        let space = WIDTH / (self.days.len() as u64).max(1);
        let bar = |(at, day): (usize, &Day)| {
            let downloads = day.downloads.filter(|downloads| *downloads > 0)?;
            let height = (u128::from(downloads) * u128::from(HEIGHT) / u128::from(most)).max(2);
            let height = u64::try_from(height).unwrap_or(HEIGHT);
            Some(Bar { x: at as u64 * space, y: HEIGHT - height, width: space.saturating_sub(2).max(1), height })
        };
        self.days.iter().rev().enumerate().filter_map(bar).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::html;

    #[test]
    fn each_day_with_a_download_has_a_bar_and_no_name_becomes_markup() {
        let odd = "<b>\"'&";
        let days = [None, Some(0), Some(u64::MAX), Some(1)];
        let days = days.map(|downloads| Day { day: "2026-11-01".into(), downloads });
        let downloads = Downloads {
            repository: odd.into(),
            package: odd.into(),
            known_since: Some(Moment(odd.into())),
            exact: false,
            complete: false,
            total: 1,
            days: days.into(),
        };
        let bars: Vec<(u64, u64)> = downloads.bars().iter().map(|bar| (bar.x, bar.height)).collect();
        assert_eq!(bars, [(0, 2), (150, 120)]);
        let shell = Shell::new("t", Links::new("http://here.test"));
        let html = html(&DownloadsPage { shell: &shell, downloads: &downloads }).unwrap();
        assert!(!html.contains("<b>") && html.matches("<rect").count() == 2, "{html}");
    }
}
