//! docs/asking.md has the columns as the code has them.

use crate::column::{Column, ColumnKind};

/// The rows of the table of columns, as the page must have them.
fn rows() -> Vec<String> {
    let kind = |column: Column| match column.kind() {
        ColumnKind::Text => "text",
        ColumnKind::Number => "number",
        ColumnKind::Duration => "duration",
        ColumnKind::Moment => "moment",
        ColumnKind::Id => "id",
    };
    let otel = |column: Column| match column.otel() {
        "" => String::new(),
        otel => format!("`{otel}`"),
    };
    let row = |column: &Column| {
        format!("| `{}` | {} | {} | {} |", column.as_str(), kind(*column), otel(*column), column.doc())
    };
    Column::ALL.iter().map(row).collect()
}

#[test]
fn the_page_about_questions_has_each_column_and_no_other() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/asking.md")).unwrap();
    let (_, columns) = page.split_once("\n## Columns\n").unwrap();
    let told: Vec<&str> = columns.lines().filter(|line| line.starts_with("| `")).collect();
    let rows = rows();
    assert_eq!(told, rows, "docs/asking.md must have these rows:\n{}", rows.join("\n"));
}
