//! Reads the answers to questions as they arrive. A row becomes a value as soon as it is complete, so an answer of 61 MB
//! needs only the memory of its values.

use crate::koji::answer::{Answer, Fault, History};
use crate::koji::model::{Archive, TagId, TaggedBuild};
use crate::koji::question::Question;
use crate::koji::request::TABLES;
use crate::koji::row::Row;
use crate::koji::rpc::{Grammar, Scalar, Token};
use crate::koji::typed;
use crate::koji::unreadable::{Unreadable, Why};
use crate::koji::xml::Pieces;

/// The most rows of all answers together.
pub const ROWS_MAX: usize = 1_000_000;

/// The response to a request, which [`write`](crate::koji::request::write) wrote.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The answers, in the order of the questions.
    Answers(Vec<Result<Answer, Fault>>),
    /// The hub did not answer at all.
    Fault(Fault),
}

/// A response that is arriving.
#[derive(Debug)]
pub struct AnswerReader {
    pieces: Pieces,
    grammar: Grammar,
    answers: Answers,
    max_bytes: u64,
}

impl AnswerReader {
    /// Reads the answers to these questions, of at most `max_bytes` bytes of XML.
    pub fn new(questions: Vec<Question>, max_bytes: u64) -> Self {
        let answers = Answers { questions, ..Answers::default() };
        Self { pieces: Pieces::default(), grammar: Grammar::default(), answers, max_bytes }
    }

    /// The bytes so far.
    pub fn bytes(&self) -> u64 {
        self.pieces.bytes()
    }

    /// Reads the next bytes, wherever they are cut. After an error there is nothing else to read.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), Unreadable> {
        let Self { pieces, grammar, answers, max_bytes } = self;
        let so_far = pieces.bytes();
        if so_far.saturating_add(bytes.len() as u64) > *max_bytes {
            return Err(Unreadable { at: so_far, why: Why::Long(*max_bytes) });
        }
        pieces.push(bytes, |event| grammar.read(event, |token| answers.read(token)))
    }

    /// The response, which is complete now.
    pub fn finish(mut self) -> Result<Reply, Unreadable> {
        let Self { pieces, grammar, answers, .. } = &mut self;
        pieces.finish(|event| grammar.read(event, |token| answers.read(token)))?;
        let Answers { questions, done, fault, .. } = self.answers;
        let why = match fault {
            _ if !self.grammar.is_done() => Why::Cut,
            Some(fault) => return Ok(Reply::Fault(fault)),
            None if done.len() == questions.len() => return Ok(Reply::Answers(done)),
            None => Why::NotAnswer("multiCall"),
        };
        Err(Unreadable { at: self.pieces.bytes(), why })
    }
}

/// An array or a struct around rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Around {
    /// All answers of a `multiCall`.
    Calls,
    /// One of them; whether its value was read.
    Call(bool),
    /// The two lists of `listTaggedArchives`; how many were read.
    Pair(u8),
    /// The tables of `queryHistory`.
    Tables,
    /// A list of rows.
    Rows,
}

/// The answers so far, and the one that is being read.
#[derive(Debug, Default)]
struct Answers {
    questions: Vec<Question>,
    done: Vec<Result<Answer, Fault>>,
    /// The fault of the whole request.
    fault: Option<Fault>,
    is_fault: bool,
    open: Vec<Around>,
    row: Row,
    rows: usize,
    /// Open arrays and structs that nobody asked for.
    skipped: usize,
    /// The name of the last member of `Around::Tables`.
    table: String,
    /// The code of a fault that was found among tables.
    fault_of_tables: Option<Fault>,
    partial: Partial,
}

/// The rows of the answer that is being read.
#[derive(Debug, Default)]
struct Partial {
    archives: Vec<Archive>,
    builds: Vec<TaggedBuild>,
    tags: Vec<crate::koji::model::Tag>,
    parents: Vec<TagId>,
    history: History,
}

impl Answers {
    fn question(&self) -> Result<&Question, Why> {
        self.questions.get(self.done.len()).ok_or(Why::NotAnswer("multiCall"))
    }

    fn wrong(&self) -> Why {
        Why::NotAnswer(self.question().map_or("multiCall", Question::method))
    }

    fn read(&mut self, token: Token<'_>) -> Result<(), Why> {
        if self.row.is_open() {
            return if self.row.read(token)? { self.end_row() } else { Ok(()) };
        }
        if self.skipped > 0 {
            match token {
                Token::Array | Token::Struct => self.skipped += 1,
                Token::Close => self.skipped -= 1,
                Token::Fault | Token::Name(_) | Token::Scalar(_) => {}
            }
            return Ok(());
        }
        match (self.open.last().copied(), token) {
            (None, Token::Fault) => self.is_fault = true,
            (None, Token::Struct) if self.is_fault => self.row.begin(false),
            (None, Token::Array) if !self.is_fault && self.questions.len() > 1 => self.open.push(Around::Calls),
            (None, _) if self.is_fault || self.questions.len() != 1 => {
                return Err(Why::NotRpc("it is neither an answer nor a fault"));
            }
            (Some(Around::Calls), Token::Array) => {
                self.question()?;
                self.open.push(Around::Call(false));
            }
            (Some(Around::Calls), Token::Struct) => self.row.begin(false),
            (Some(Around::Call(true)), Token::Close) => drop(self.open.pop()),
            (Some(Around::Calls), Token::Close) => drop(self.open.pop()),
            (Some(Around::Call(false)), Token::Close) => return Err(self.wrong()),
            (None, _) | (Some(Around::Call(false)), _) => {
                if let Some(last) = self.open.last_mut() {
                    *last = Around::Call(true);
                }
                return self.begin(token);
            }
            (Some(Around::Rows), Token::Struct) => self.row.begin(matches!(self.question()?, Question::History { .. })),
            (Some(Around::Rows), Token::Close) => {
                self.open.pop();
                match self.open.last_mut() {
                    Some(Around::Pair(lists)) => *lists += 1,
                    Some(Around::Tables) => {}
                    _ => return self.end(),
                }
            }
            (Some(Around::Pair(0..2)), Token::Array) => self.open.push(Around::Rows),
            (Some(Around::Pair(2) | Around::Tables), Token::Close) => {
                self.open.pop();
                return self.end();
            }
            (Some(Around::Tables), Token::Name(name)) => name.clone_into(&mut self.table),
            (Some(Around::Tables), Token::Array) if TABLES.contains(&self.table.as_str()) => {
                self.open.push(Around::Rows)
            }
            (Some(Around::Tables), Token::Array | Token::Struct) => self.skipped = 1,
            (Some(Around::Tables), Token::Scalar(scalar)) => self.read_fault_of_tables(scalar),
            _ => return Err(self.wrong()),
        }
        Ok(())
    }

    /// Begins the answer to a question.
    fn begin(&mut self, token: Token<'_>) -> Result<(), Why> {
        match (self.question()?, token) {
            (Question::TaggedArchives { .. }, Token::Array) => self.open.push(Around::Pair(0)),
            (
                Question::Tags { .. }
                | Question::Tagged { .. }
                | Question::Archives { .. }
                | Question::Inheritance { .. },
                Token::Array,
            ) => self.open.push(Around::Rows),
            (Question::History { .. }, Token::Struct) => self.open.push(Around::Tables),
            // The struct that was asked for, or a fault.
            (_, Token::Struct) => self.row.begin(false),
            (Question::Tag { .. }, Token::Scalar(Scalar::Nil)) => self.done.push(Ok(Answer::Tag(None))),
            (Question::Build { .. }, Token::Scalar(Scalar::Nil)) => self.done.push(Ok(Answer::Build(None))),
            (Question::ChangedSince { .. }, Token::Scalar(Scalar::Boolean(is))) => {
                self.done.push(Ok(Answer::ChangedSince(is)));
            }
            _ => return Err(self.wrong()),
        }
        Ok(())
    }

    /// A struct is complete.
    fn end_row(&mut self) -> Result<(), Why> {
        self.rows += 1;
        if self.rows > ROWS_MAX {
            return Err(Why::Many(ROWS_MAX));
        }
        let row = &self.row;
        if self.is_fault {
            self.fault = Some(typed::fault(row).ok_or(Why::NotRpc("a fault has no code"))?);
            return Ok(());
        }
        let (around, wrong) = (self.open.last().copied(), self.wrong());
        let question = self.questions.get(self.done.len()).ok_or(Why::NotAnswer("multiCall"))?;
        let Partial { archives, builds, tags, parents, history } = &mut self.partial;
        match (around, question) {
            (Some(Around::Rows), Question::Tags { .. }) => tags.push(typed::tag(row)?),
            (Some(Around::Rows), Question::Tagged { tag, .. }) => builds.push(typed::tagged(row, *tag)?),
            (Some(Around::Rows), Question::Archives { .. }) => archives.push(typed::archive(row)?),
            (Some(Around::Rows), Question::Inheritance { .. }) => parents.push(typed::parent(row)?),
            (Some(Around::Rows), Question::TaggedArchives { tag, .. }) => {
                // The list around it is the first or the second.
                match self.open.iter().rev().nth(1) {
                    Some(Around::Pair(0)) => archives.push(typed::archive(row)?),
                    _ => builds.push(typed::tagged(row, *tag)?),
                }
            }
            (Some(Around::Rows), Question::History { tag, .. }) => {
                history.rows.push((typed::newest_event(row), row.digest(&self.table)));
                if self.table == "tag_listing" {
                    history.listings.push(typed::listing(row, *tag)?);
                }
            }
            _ => {
                let answer = match (typed::fault(row), around, question) {
                    (Some(fault), ..) => Err(fault),
                    (None, None | Some(Around::Call(_)), Question::LastEvent | Question::Event { .. }) => {
                        Ok(Answer::LastEvent(typed::event(row)?))
                    }
                    (None, None | Some(Around::Call(_)), Question::Tag { .. }) => {
                        Ok(Answer::Tag(Some(typed::tag(row)?)))
                    }
                    (None, None | Some(Around::Call(_)), Question::Build { .. }) => {
                        Ok(Answer::Build(Some(typed::build(row)?)))
                    }
                    _ => return Err(wrong),
                };
                self.done.push(answer);
            }
        }
        Ok(())
    }

    /// A fault that a struct of tables turned out to be.
    fn read_fault_of_tables(&mut self, scalar: Scalar<'_>) {
        match (self.table.as_str(), scalar) {
            ("faultCode", Scalar::Int(code)) => {
                self.fault_of_tables.get_or_insert(Fault { code, text: String::new() }).code = code;
            }
            ("faultString", Scalar::Text(text)) => {
                let fault = self.fault_of_tables.get_or_insert(Fault { code: 0, text: String::new() });
                fault.text = typed::cut(text);
            }
            _ => {}
        }
    }

    /// The lists of the answer are complete.
    fn end(&mut self) -> Result<(), Why> {
        let Partial { archives, builds, tags, parents, history } = std::mem::take(&mut self.partial);
        let answer = match self.question()? {
            Question::Tags { .. } => Answer::Tags(tags),
            Question::Tagged { .. } => Answer::Tagged(builds),
            Question::Archives { .. } => Answer::Archives(archives),
            Question::Inheritance { .. } => Answer::Inheritance(parents),
            Question::TaggedArchives { .. } => Answer::TaggedArchives { archives, builds },
            Question::History { .. } => Answer::History(history),
            Question::LastEvent
            | Question::Event { .. }
            | Question::Tag { .. }
            | Question::Build { .. }
            | Question::ChangedSince { .. } => {
                return Err(self.wrong());
            }
        };
        self.done.push(self.fault_of_tables.take().map_or(Ok(answer), Err));
        Ok(())
    }
}
