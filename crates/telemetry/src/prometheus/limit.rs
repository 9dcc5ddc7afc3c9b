//! The most series in one answer. Beyond that whole families are left out, in a fixed order.

use super::page::Page;

/// The most series in one answer.
pub(super) const SERIES_MAX: usize = 10_000;
/// The families that are left out first: those whose figures other families have too, less finely divided. After them the last
/// families of the page.
const ORDER: &[&str] = &[
    "http_client_request_duration_seconds",
    "http_server_response_body_size_bytes",
    "http_server_request_body_size_bytes",
    "daylight_loop_ops_total",
    "http_server_request_duration_seconds",
    "daylight_upstream_request_duration_seconds",
    "daylight_loop_late_seconds",
    "db_client_operation_duration_seconds",
    "daylight_request_first_byte_seconds",
    "daylight_op_duration_seconds",
    "daylight_upstream_errors_total",
];

/// Leaves families out until there are at most `max` series, and writes the number of series that are left out.
pub(super) fn cut(page: &mut Page, max: usize) {
    let all: usize = page.families().iter().map(|family| family.series).sum();
    // The figure that says so is a series too.
    let (mut left, mut out) = (all + 1, Vec::new());
    let last_first = page.families().iter().rev().map(|family| family.name.as_str());
    let order = ORDER.iter().copied().chain(last_first.filter(|name| !ORDER.contains(name)));
    for name in order {
        if left <= max {
            break;
        }
        left -= page.families().iter().filter(|family| family.name == name).map(|family| family.series).sum::<usize>();
        out.push(name.to_owned());
    }
    if !out.is_empty() {
        page.remove(|name| out.iter().any(|out| out == name));
    }
    let doc = "Series that this answer leaves out, because it would have more than 10,000";
    page.family("metrics_left_out_series", "gauge", doc).sample(&[], all + 1 - left);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(families: &[(&str, usize)]) -> Page {
        let mut page = Page::default();
        for (name, series) in families {
            let mut family = page.foreign(name, "gauge", "Any");
            (0..*series).for_each(|i| family.sample(&[("i", &i.to_string())], i));
        }
        page
    }

    fn names(page: &Page) -> Vec<&str> {
        page.families().iter().map(|family| family.name.as_str()).collect()
    }

    #[test]
    fn whole_families_go_in_a_fixed_order_and_the_number_of_their_series_is_told() {
        let families = [("a", 3), (ORDER[1], 4), ("b", 2), (ORDER[0], 1), ("c", 1)];
        for (max, kept, out) in [
            (12, vec!["a", ORDER[1], "b", ORDER[0], "c"], 0),
            (11, vec!["a", ORDER[1], "b", "c"], 1),
            (10, vec!["a", "b", "c"], 5),
            (6, vec!["a", "b"], 6),
            (4, vec!["a"], 8),
        ] {
            let mut page = page(&families);
            cut(&mut page, max);
            let told = [kept.as_slice(), &["daylight_metrics_left_out_series"]].concat();
            assert_eq!(names(&page), told, "at most {max}");
            assert!(page.families().iter().map(|family| family.series).sum::<usize>() <= max);
            let text = page.text();
            assert!(text.ends_with(&format!("\ndaylight_metrics_left_out_series {out}\n")), "{text}");
            assert_eq!(text.matches("# TYPE").count(), told.len());
        }
    }
}
