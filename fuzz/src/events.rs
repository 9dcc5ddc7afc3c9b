//! Parsers of stored events.

use insight::{Block, Column, Log, Part};

/// A log of events, or one block of it without its checksums and its compression. A block that is read is complete, and it can be stored
/// and joined.
pub(crate) fn event_log(bytes: &[u8]) {
    let recovered = Log::read(bytes);
    assert!(recovered.lost_bytes <= bytes.len() as u64);
    recovered.blocks.iter().for_each(|block| complete(block));
    let Some(block) = Block::from_plain(bytes) else { return };
    complete(&block);
    let again = Block::from_plain(&block.plain()).expect("a stored block");
    let joined = Block::join(&[&block, &again]);
    complete(&joined);
    assert_eq!((again.span(), joined.span().rows), (block.span(), 2 * block.span().rows));
    for column in Column::ALL {
        assert_eq!(again.texts(*column).expect("memory"), block.texts(*column).expect("memory"));
        assert_eq!(again.numbers(*column).expect("memory"), block.numbers(*column).expect("memory"));
    }
}

/// Each column has a cell for each row.
fn complete(block: &Block) {
    let rows = block.span().rows;
    for column in Column::ALL {
        if column.is_text() {
            let coded = block.texts(*column).expect("memory");
            assert_eq!(coded.codes.len(), rows);
            assert!(coded.codes.iter().all(|code| (*code as usize) < coded.texts.len()));
            assert!(coded.texts.iter().all(|text| block.may_have(*column, text)));
        } else {
            let numbers = block.numbers(*column).expect("memory");
            let (low, high) = block.range(*column).expect("rows");
            assert_eq!(numbers.len(), rows);
            assert_eq!((numbers.iter().min(), numbers.iter().max()), (Some(&low), Some(&high)));
        }
    }
}
