//! Writes questions as XML-RPC: one as a call, several as one `multiCall`. Named arguments are a last struct that has
//! `__starstar`.

use crate::koji::model::EventId;
use crate::koji::question::Question;
use quick_xml::escape::escape;
use std::fmt::Write as _;

/// The longest request that hubs take unless they are set otherwise (`MaxRequestLength`), in bytes.
pub const REQUEST_MAX: usize = 4 << 20;

const HEAD: &str = "<?xml version='1.0'?>\n<methodCall><methodName>";
const TAIL: &str = "</params></methodCall>\n";
const MULTI_TAIL: &str = "</data></array></value></param></params></methodCall>\n";

/// The questions are too many for one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("only the first {fit} questions fit into a request of {REQUEST_MAX} bytes")]
pub struct TooMany {
    /// How many of them, from the first on, fit into one request.
    pub fit: usize,
}

/// An argument.
enum Argument<'a> {
    Int(u64),
    Boolean(bool),
    Text(&'a str),
    Ints(Vec<u64>),
    Texts(&'a [&'a str]),
}

/// A call: arguments by place and by name.
struct Call<'a> {
    places: Vec<Argument<'a>>,
    names: Vec<(&'static str, Argument<'a>)>,
}

/// The tables whose rows tell what a tag has.
pub(super) const TABLES: &[&str] = &["tag_listing", "tag_packages", "tag_inheritance", "tag_config"];

/// Writes the request: one question as a call, several as one `multiCall`.
pub fn write(questions: &[Question]) -> Result<Vec<u8>, TooMany> {
    let mut text = String::from(HEAD);
    if let [question] = questions {
        let call = Call::of(question);
        text.push_str(question.method());
        text.push_str("</methodName><params>");
        call.each(|value| {
            let _ = write!(text, "<param>{value}</param>");
        });
        text.push_str(TAIL);
        return if text.len() > REQUEST_MAX { Err(TooMany { fit: 0 }) } else { Ok(text.into_bytes()) };
    }
    text.push_str("multiCall</methodName><params><param><value><array><data>");
    for (fit, question) in questions.iter().enumerate() {
        text.push_str("<value><struct><member><name>methodName</name><value><string>");
        text.push_str(question.method());
        text.push_str("</string></value></member><member><name>params</name><value><array><data>");
        Call::of(question).each(|value| text.push_str(&value));
        text.push_str("</data></array></value></member></struct></value>");
        if text.len() + MULTI_TAIL.len() > REQUEST_MAX {
            return Err(TooMany { fit });
        }
    }
    text.push_str(MULTI_TAIL);
    Ok(text.into_bytes())
}

impl<'a> Call<'a> {
    fn of(question: &'a Question) -> Self {
        use Argument::{Boolean, Int, Ints, Text, Texts};
        let tag = |tag: &crate::koji::model::TagId| Int(u64::from(tag.0));
        let event = |event: &Option<EventId>| event.map(|EventId(id)| ("event", Int(id)));
        let tagged = |at: &Option<EventId>, inherit: bool| {
            let fixed = [
                ("type", Text("maven")),
                ("inherit", Boolean(inherit)),
                ("latest", Boolean(false)),
                ("strict", Boolean(true)),
            ];
            fixed.into_iter().chain(event(at)).collect::<Vec<_>>()
        };
        let (places, names) = match question {
            Question::LastEvent => (vec![], vec![]),
            Question::Event { event } => (vec![Int(event.0)], vec![]),
            Question::Tags { pattern } => (vec![], vec![("pattern", Text(pattern.as_str()))]),
            Question::Tag { tag: of } => (vec![tag(of)], vec![("strict", Boolean(false))]),
            Question::TaggedArchives { tag: of, event, inherit, plain } => {
                let mut names = tagged(event, *inherit);
                if !plain {
                    names.push(("extra", Boolean(false)));
                }
                (vec![tag(of)], names)
            }
            Question::Tagged { tag: of, event, inherit } => (vec![tag(of)], tagged(event, *inherit)),
            Question::Archives { build } => {
                (vec![], vec![("buildID", Int(u64::from(build.0))), ("type", Text("maven"))])
            }
            Question::Build { build } => (vec![Int(u64::from(build.0))], vec![]),
            Question::Inheritance { tag: of, event: at } => (vec![tag(of)], event(at).into_iter().collect()),
            Question::ChangedSince { event, tags } => {
                (vec![Int(event.0), Ints(tags.iter().map(|tag| u64::from(tag.0)).collect())], vec![])
            }
            Question::History { tag: of, after } => {
                let after = after.map(|EventId(id)| ("afterEvent", Int(id)));
                let names = [("tables", Texts(TABLES)), ("tag", tag(of))];
                (vec![], names.into_iter().chain(after).collect())
            }
        };
        Self { places, names }
    }

    /// Passes the arguments on as XML.
    fn each(&self, mut take: impl FnMut(String)) {
        self.places.iter().for_each(|argument| take(argument.xml()));
        if self.names.is_empty() {
            return;
        }
        let member = |name: &str, value: &str| format!("<member><name>{name}</name>{value}</member>");
        let mut named = member("__starstar", &Argument::Boolean(true).xml());
        self.names.iter().for_each(|(name, argument)| named.push_str(&member(name, &argument.xml())));
        take(format!("<value><struct>{named}</struct></value>"));
    }
}

impl Argument<'_> {
    fn xml(&self) -> String {
        match self {
            // XML-RPC's own integers have 32 bits.
            Argument::Int(number) if *number > i32::MAX as u64 => format!("<value><i8>{number}</i8></value>"),
            Argument::Int(number) => format!("<value><int>{number}</int></value>"),
            Argument::Boolean(is) => format!("<value><boolean>{}</boolean></value>", u8::from(*is)),
            Argument::Text(text) => {
                // XML cannot represent other control characters.
                let plain = text.replace(|c: char| c.is_control() && !matches!(c, '\n' | '\t'), "\u{fffd}");
                format!("<value><string>{}</string></value>", escape(plain.as_str()))
            }
            Argument::Ints(numbers) => list(numbers.iter().map(|number| Argument::Int(*number))),
            Argument::Texts(texts) => list(texts.iter().map(|text| Argument::Text(text))),
        }
    }
}

fn list<'a>(items: impl Iterator<Item = Argument<'a>>) -> String {
    let items: String = items.map(|item| item.xml()).collect();
    format!("<value><array><data>{items}</data></array></value>")
}
