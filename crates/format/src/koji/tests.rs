//! Answers as hubs write them, and damaged in every way.

mod answers;
mod hostile;
mod questions;
mod rules;
mod written;

use crate::koji::question::Question;
use crate::koji::reading::{AnswerReader, Reply};
use crate::koji::unreadable::Unreadable;

/// Reads an answer in pieces of this length.
fn read_in(questions: &[Question], xml: &[u8], piece: usize) -> Result<Reply, Unreadable> {
    let mut reader = AnswerReader::new(questions.to_vec(), 64 << 20);
    for bytes in xml.chunks(piece) {
        reader.push(bytes)?;
    }
    reader.finish()
}

fn read(questions: &[Question], xml: &str) -> Result<Reply, Unreadable> {
    read_in(questions, xml.as_bytes(), usize::MAX)
}

/// The answer to one question, from the XML of its value.
fn answer(question: Question, value: &str) -> Result<Reply, Unreadable> {
    read(&[question], &response(value))
}

fn response(value: &str) -> String {
    format!(
        "<?xml version='1.0'?>\n<methodResponse>\n<params>\n<param>\n{value}\n</param>\n</params>\n</methodResponse>\n"
    )
}
