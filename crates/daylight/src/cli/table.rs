//! Prints tables: columns under their names, two spaces apart.

use super::failure::plain;
use std::io::{self, Write};

/// Writes `rows` under `head`, each column as wide as its widest cell.
pub(super) fn write<const N: usize>(out: &mut dyn Write, head: [&str; N], rows: Vec<[String; N]>) -> io::Result<()> {
    let rows: Vec<[String; N]> = std::iter::once(head.map(str::to_owned)).chain(rows).collect();
    let rows: Vec<[String; N]> = rows.into_iter().map(|row| row.map(|cell| plain(&cell).replace('\n', " "))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    for row in &rows {
        let line: String = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}  ")).collect();
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
}
