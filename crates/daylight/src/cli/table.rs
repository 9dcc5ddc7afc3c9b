//! Prints tables: columns under their names, two spaces apart.

use super::failure::plain;
use std::io::{self, Write};

/// Writes `rows` under `head`, each column as wide as its widest cell.
pub(super) fn write<const N: usize>(out: &mut dyn Write, head: [&str; N], rows: Vec<[String; N]>) -> io::Result<()> {
    let head: Vec<Head> = head.iter().map(|name| Head { name: (*name).to_owned(), right: false }).collect();
    write_under(out, &head, rows.into_iter().map(Vec::from).collect())
}

/// The name of a column, and whether its cells end at its right edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: String,
    pub(super) right: bool,
}

/// Writes `rows` under `head`, each column as wide as its widest cell. Each row has a cell for each column.
pub(super) fn write_under(out: &mut dyn Write, head: &[Head], rows: Vec<Vec<String>>) -> io::Result<()> {
    let names = head.iter().map(|head| head.name.clone()).collect();
    let rows: Vec<Vec<String>> = std::iter::once(names).chain(rows).collect();
    let clean = |row: Vec<String>| row.into_iter().map(|cell| plain(&cell).replace('\n', " ")).collect();
    let rows: Vec<Vec<String>> = rows.into_iter().map(clean).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let columns: Vec<(bool, usize)> = head.iter().enumerate().map(|(at, head)| (head.right, width(at))).collect();
    for row in &rows {
        let cell = |(cell, (right, width)): (&String, &(bool, usize))| match right {
            true => format!("{cell:>width$}  "),
            false => format!("{cell:width$}  "),
        };
        let line: String = row.iter().zip(&columns).map(cell).collect();
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_control_characters_shown() {
        let mut out = Vec::new();
        let rows = vec![["é\u{1b}[2J".to_owned(), "b".to_owned()], ["longer-name".to_owned(), String::new()]];
        write(&mut out, ["NAME", "KIND"], rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "NAME         KIND\né\u{fffd}[2J        b\nlonger-name\n");
    }

    #[test]
    fn figures_end_at_the_right_edge_of_their_column() {
        let mut out = Vec::new();
        let head = [("PACKAGE", false), ("COUNT", true)].map(|(name, right)| Head { name: name.to_owned(), right });
        let rows = [["rack", "412"], ["a-longer-name", "7"]].map(|row| row.map(str::to_owned).to_vec());
        write_under(&mut out, &head, rows.to_vec()).unwrap();
        let table = "PACKAGE        COUNT\nrack             412\na-longer-name      7\n";
        assert_eq!(String::from_utf8(out).unwrap(), table);
    }
}
