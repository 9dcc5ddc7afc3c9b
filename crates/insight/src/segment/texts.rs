//! Reads a column of texts: its dictionary and the codes of its rows. No text of a row is touched, unless the dictionary was given up.

use super::bits;
use crate::interner::Interner;
use crate::part::Coded;
use crate::texts::Texts;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageReader};
use parquet::errors::ParquetError;
use std::sync::Arc;

/// The cells of a column with `rows` rows.
pub(super) fn read(pages: impl PageReader, rows: usize) -> Result<Coded, String> {
    let mut texts = Texts::default();
    let mut codes = Vec::new();
    let mut plain = None;
    for page in pages {
        let page = page.map_err(|error| error.to_string())?;
        let (bytes, count, encoding) = (page.buffer(), page.num_values() as usize, page.encoding());
        let levels = match &page {
            // No cell is missing, so no page has levels.
            Page::DataPageV2 { def_levels_byte_len, rep_levels_byte_len, .. } => {
                def_levels_byte_len | rep_levels_byte_len
            }
            Page::DataPage { .. } | Page::DictionaryPage { .. } => 0,
        };
        if levels != 0 || (page.is_data_page() && count > rows - codes.len()) {
            return Err("a page does not have the form of its column".to_owned());
        }
        match (page.page_type(), encoding) {
            // The pages of a column that has given up its dictionary are plain.
            _ if plain.is_some() && encoding != Encoding::PLAIN => {
                return Err("a page does not have the form of its column".to_owned());
            }
            _ if page.is_dictionary_page() => texts = plain_texts(bytes, count)?,
            (_, Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY) => {
                bits::codes(bytes, count, texts.len(), &mut codes)?;
            }
            (_, Encoding::PLAIN) => {
                let plain = plain.get_or_insert_with(|| Interner::from(std::mem::take(&mut texts)));
                each(bytes, count, |text| {
                    codes.push(plain.intern(std::str::from_utf8(text).map_err(|_| "a text is not UTF-8")?));
                    Ok(())
                })?;
            }
            (_, encoding) => return Err(format!("a page has the encoding {encoding}")),
        }
        telemetry::give_way();
    }
    let texts = plain.map_or(texts, Interner::into_texts);
    match codes.len() == rows {
        true => Ok(Coded { texts: Arc::new(texts), codes }),
        false => Err(format!("a column has {} rows of {rows}", codes.len())),
    }
}

/// The cell of one row. Pages before it are not decoded, except for the dictionary.
pub(super) fn read_one(mut pages: impl PageReader, row: usize) -> Result<String, String> {
    let failed = |error: ParquetError| error.to_string();
    let (mut dictionary, mut before) = (None, 0);
    while let Some(about) = pages.peek_next_page().map_err(failed)? {
        let rows = about.num_rows.or(about.num_levels).unwrap_or_default();
        if !about.is_dict && rows > 0 && before + rows <= row {
            pages.skip_next_page().map_err(failed)?;
            before += rows;
            continue;
        }
        let Some(page) = pages.get_next_page().map_err(failed)? else { break };
        let (bytes, count) = (page.buffer(), page.num_values() as usize);
        if page.is_dictionary_page() {
            dictionary = Some(page);
        } else if page.encoding() == Encoding::PLAIN {
            return nth(bytes, count, row - before);
        } else {
            let (Some(dictionary), mut codes) = (&dictionary, Vec::new()) else {
                return Err("a column has codes and no dictionary".to_owned());
            };
            let texts = dictionary.num_values() as usize;
            bits::codes(bytes, count, texts, &mut codes)?;
            let code = codes.get(row - before).ok_or_else(|| format!("there is no row {row}"))?;
            return nth(dictionary.buffer(), texts, *code as usize);
        }
    }
    Err(format!("there is no row {row}"))
}

/// All texts of a plain page. They are copied, and then checked at once: that is faster than text by text.
fn plain_texts(page: &[u8], count: usize) -> Result<Texts, String> {
    // Each text has four bytes of length.
    let bytes = count.checked_mul(4).and_then(|lengths| page.len().checked_sub(lengths));
    let bytes = bytes.ok_or("a page of texts ends too early")?;
    let (mut all, mut ends) = (Vec::with_capacity(bytes), Vec::with_capacity(count));
    each(page, count, |text| {
        all.extend_from_slice(text);
        ends.push(all.len());
        Ok(())
    })?;
    Texts::of(all, ends).ok_or_else(|| "a text is not UTF-8".to_owned())
}

/// The text of a plain page at a place.
fn nth(page: &[u8], count: usize, place: usize) -> Result<String, String> {
    let mut last: &[u8] = &[];
    if place >= count {
        return Err(format!("there is no row {place}"));
    }
    each(page, place + 1, |text| {
        last = text;
        Ok(())
    })?;
    std::str::from_utf8(last).map(str::to_owned).map_err(|_| "a text is not UTF-8".to_owned())
}

/// Each text of a plain page: four bytes with its length, then its bytes.
fn each<'p>(
    mut page: &'p [u8],
    count: usize,
    mut take: impl FnMut(&'p [u8]) -> Result<(), String>,
) -> Result<(), String> {
    for _ in 0..count {
        let split = page.split_first_chunk::<4>();
        let split = split.and_then(|(length, rest)| rest.split_at_checked(u32::from_le_bytes(*length) as usize));
        let (text, rest) = split.ok_or("a page of texts ends too early")?;
        take(text)?;
        page = rest;
    }
    Ok(())
}
