//! Answers that no hub writes.

use super::written::{Value, any_text, any_value, row, text};
use super::{answer, read, read_in, response};
use crate::koji::answer::Answer;
use crate::koji::model::{BuildId, TagId};
use crate::koji::question::Question;
use crate::koji::reading::{AnswerReader, Reply};
use crate::koji::rpc::{Grammar, Scalar, Token};
use crate::koji::unreadable::Why;
use crate::koji::xml::Pieces;
use proptest::prelude::*;

const ARCHIVES: Question = Question::Archives { build: BuildId(7) };

fn why(xml: &str) -> Why {
    read(&[ARCHIVES], xml).unwrap_err().why
}

/// The tokens of a response, with the texts that they refer to.
fn tokens(xml: &[u8], piece: usize) -> Result<Vec<String>, Why> {
    let (mut pieces, mut grammar, mut tokens) = (Pieces::default(), Grammar::default(), Vec::new());
    let mut take = |token: Token<'_>| {
        tokens.push(format!("{token:?}"));
        Ok(())
    };
    for bytes in xml.chunks(piece) {
        pieces.push(bytes, |event| grammar.read(event, &mut take)).map_err(|error| error.why)?;
    }
    pieces.finish(|event| grammar.read(event, &mut take)).map_err(|error| error.why)?;
    if grammar.is_done() { Ok(tokens) } else { Err(Why::Cut) }
}

/// The tokens that a value should have.
fn expected(value: &Value, into: &mut Vec<String>) {
    let mut push = |token: Token<'_>| into.push(format!("{token:?}"));
    match value {
        Value::Nil => push(Token::Scalar(Scalar::Nil)),
        Value::Int(number) => push(Token::Scalar(Scalar::Int(*number))),
        Value::Double(number) => push(Token::Scalar(Scalar::Double(*number))),
        Value::Boolean(is) => push(Token::Scalar(Scalar::Boolean(*is))),
        Value::Text(text) => push(Token::Scalar(Scalar::Text(text))),
        Value::Array(items) => {
            push(Token::Array);
            items.iter().for_each(|item| expected(item, into));
            into.push(format!("{:?}", Token::Close));
        }
        Value::Struct(members) => {
            push(Token::Struct);
            for (name, value) in members {
                into.push(format!("{:?}", Token::Name(name)));
                expected(value, into);
            }
            into.push(format!("{:?}", Token::Close));
        }
    }
}

#[test]
fn document_types_and_entities_are_refused() {
    let bomb = "<!DOCTYPE a [<!ENTITY x \"y\">]>";
    assert_eq!(why(&format!("{bomb}{}", response("<value>&x;</value>"))), Why::Doctype);
    assert_eq!(why(&response("<value>&x;</value>")), Why::Entity);
    assert_eq!(why(&response("<value>&#0;</value>")), Why::Entity);
    assert_eq!(why(&response("<value><string>&#xD800;</string></value>")), Why::Entity);
    let texts = "<value><string>&lt;&gt;&amp;&apos;&quot;&#65;&#x42;<![CDATA[<&>]]></string></value>";
    let tokens = tokens(response(texts).as_bytes(), 7).unwrap();
    assert_eq!(tokens, [format!("{:?}", Token::Scalar(Scalar::Text("<>&'\"AB<&>")))]);
}

#[test]
fn depth_texts_tags_and_the_whole_have_limits() {
    let nested = |depth: usize| {
        let (begin, end) = ("<value><array><data>".repeat(depth), "</data></array></value>".repeat(depth));
        tokens(response(&format!("{begin}{end}")).as_bytes(), 1000).map(|tokens| tokens.len())
    };
    assert_eq!((nested(32), nested(33), nested(10_000)), (Ok(64), Err(Why::Deep(32)), Err(Why::Deep(32))));
    let long = |bytes: usize| tokens(response(&format!("<value>{}</value>", "x".repeat(bytes))).as_bytes(), 9999);
    assert!(long(1 << 20).is_ok());
    assert_eq!(long((1 << 20) + 1), Err(Why::LongPart(1 << 20)));
    let escaped = response(&format!("<value>{}</value>", "&quot;".repeat(1 << 20)));
    assert!(tokens(escaped.as_bytes(), 64 << 10).is_ok());
    for endless in ["<", "<value x='", "<!--", "<!-- <", "<![CDATA[", "<value>", "<value>&amp;"] {
        let xml = format!("<methodResponse><params><param>{endless}{}", "y<".repeat(2 << 20));
        assert!(tokens(xml.as_bytes(), 64 << 10).is_err(), "{endless}");
        let xml = format!("<methodResponse><params><param>{endless}{}", "y".repeat(7 << 20));
        assert!(matches!(tokens(xml.as_bytes(), 64 << 10), Err(Why::LongPart(_))), "{endless}");
    }
    let mut reader = AnswerReader::new(vec![ARCHIVES], 100);
    reader.push(&[b' '; 100]).unwrap();
    let error = reader.push(b" ").unwrap_err();
    assert_eq!((error.at, error.why.is_of_size()), (100, true));
}

#[test]
fn rows_have_limits() {
    let many = Value::Struct((0..257).map(|n| (format!("m{n}"), Value::Nil)).collect());
    assert_eq!(answer(ARCHIVES, &Value::Array(vec![many]).xml()).unwrap_err().why, Why::Many(256));
    let long = |name: &dyn Fn(usize) -> String| {
        let mut members: Vec<_> = (0..6).map(|n| (name(n), text(&"9".repeat(1 << 20)))).collect();
        members.extend([("id".to_owned(), Value::Int(1)), ("build_id".to_owned(), Value::Int(7))]);
        answer(ARCHIVES, &Value::Array(vec![Value::Struct(members)]).xml()).map_err(|error| error.why)
    };
    assert_eq!(long(&|_| "filename".to_owned()).unwrap_err(), Why::LongRow(4 << 20));
    // Nobody reads these, so they are not kept.
    assert!(long(&|n| format!("m{n}")).is_ok());
}

#[test]
fn every_member_that_a_row_is_asked_for_is_kept() {
    let typed = include_str!("../typed.rs");
    let mut words = typed.split('"').skip(1).step_by(2).filter(|word| !word.is_empty());
    let kept = include_str!("../row.rs");
    let lacks = words.find(|word| *word != "DEFAULT" && !kept.contains(&format!("\"{word}\"")));
    assert_eq!(lacks, None);
}

#[test]
fn names_of_tags_and_persons_move_no_terminal_and_are_short_and_moments_are_moments() {
    let (tag, long) = (TagId(1), "x".repeat(1 << 20));
    let members = |label: &str, ts: Value| {
        let one = || Value::Int(1);
        let (creator, owner, of_tag, name) = (text(label), text(label), text(label), text(label));
        row([
            ("id", one()),
            ("build_id", one()),
            ("create_event", one()),
            ("create_ts", ts),
            ("creator_name", creator),
            ("owner_name", owner),
            ("tag_name", of_tag),
            ("name", name),
        ])
    };
    for (name, expected) in [
        ("\u{1b}[31mann\r\n2026 \u{202e}", "\u{fffd}[31mann\u{fffd}\u{fffd}2026 \u{fffd}".to_owned()),
        (&long, "x".repeat(256)),
        ("zo\u{eb}", "zo\u{eb}".to_owned()),
    ] {
        let rows = Value::Array(vec![members(name, Value::Nil)]);
        let tags = answer(Question::Tags { pattern: "*".into() }, &rows.xml()).unwrap();
        let Reply::Answers(answers) = tags else { panic!() };
        assert!(matches!(&answers[..], [Ok(Answer::Tags(tags))] if tags[0].name == expected), "{answers:?}");
        let tagged = answer(Question::Tagged { tag, event: None, inherit: false }, &rows.xml()).unwrap();
        let Reply::Answers(answers) = tagged else { panic!() };
        let is = |of: &crate::koji::model::TaggedBuild| of.tag_name == expected && of.owner.as_ref() == Some(&expected);
        assert!(matches!(&answers[..], [Ok(Answer::Tagged(builds))] if is(&builds[0])), "{answers:?}");
    }
    for (ts, expected) in [(1.5, 1_500), (9.3e15, 0), (-9.3e15, 0), (-1.0, 0), (253_402_300_800.0, 0)] {
        let tables = row([("tag_listing", Value::Array(vec![members("ann", Value::Double(ts))]))]);
        let Ok(Reply::Answers(answers)) = answer(Question::History { tag, after: None }, &tables.xml()) else {
            panic!()
        };
        let [Ok(Answer::History(history))] = &answers[..] else { panic!() };
        assert_eq!(history.listings[0].created.at_ms, expected, "{ts}");
        assert_eq!(history.listings[0].creator.as_deref(), Some("ann"));
    }
}

#[test]
fn other_xml_and_other_types_are_refused_with_their_position() {
    for (value, words) in [
        ("<value><base64>AAAA</base64></value>", "a value is in base64"),
        ("<value><float>1</float></value>", "a value has an unknown type"),
        ("<value><int>1.5</int></value>", "a value is not of its type"),
        ("<value><int>99999999999999999999</int></value>", "a value is not of its type"),
        ("<value><boolean>2</boolean></value>", "a value is not of its type"),
        ("<value><double>inf</double></value>", "a value is not of its type"),
        ("<value>x<int>1</int></value>", "a value has both a text and an element"),
        ("<value><int>1</int>x</value>", "there is a text between elements"),
        ("<value><int>1</int><int>1</int></value>", "an element has two children in place of one"),
        ("<value><array></array></value>", "an element is empty"),
        ("<value><struct><member><value/></member></struct></value>", "an element is in a place where it cannot be"),
        ("<value><struct><member><name>a</name></member></struct></value>", "an element is empty"),
        ("<value></int>", "an element ends that did not begin"),
    ] {
        assert_eq!(tokens(response(value).as_bytes(), 9), Err(Why::NotRpc(words)), "{value}");
    }
    assert!(matches!(why("<html><body>502</body></html>"), Why::NotRpc(_)));
    assert!(matches!(why(&format!("{0}{0}", response("<value/>"))), Why::NotAnswer("listArchives")));
    assert_eq!(why(""), Why::Cut);
    let latin = [&response("<value><array><data><value><string>").into_bytes()[..90], b"\xfc</string>"].concat();
    assert!(read_in(&[ARCHIVES], &latin, 10).is_err());
    let xml = response("<value><array><data><value><struct><member><name>id</name><value><int>x</int>");
    let error = read(&[ARCHIVES], &xml).unwrap_err();
    assert_eq!(error.at as usize, xml.find("x</int>").unwrap() + 1);
    assert_eq!(error.to_string(), format!("at byte {}: it is not XML-RPC: a value is not of its type", error.at));
}

#[test]
fn an_answer_that_is_cut_anywhere_is_an_error() {
    let rows =
        (0..3).map(|n| row([("id", Value::Int(n)), ("build_id", Value::Int(7)), ("filename", text("a&\u{fc}"))]));
    let xml = response(&Value::Array(rows.collect()).xml());
    let whole = xml.trim_end().len();
    for at in 0..whole {
        let error = read_in(&[ARCHIVES], &xml.as_bytes()[..at], 50).unwrap_err();
        assert!(error.at <= at as u64, "{at}: {error}");
    }
    assert!(read_in(&[ARCHIVES], &xml.as_bytes()[..whole], 50).is_ok());
}

proptest! {
    #[test]
    fn any_value_is_read_as_it_was_written_in_whatever_pieces_it_arrives(value in any_value(), piece in 1usize..80) {
        let mut should = Vec::new();
        expected(&value, &mut should);
        prop_assert_eq!(tokens(response(&value.xml()).as_bytes(), piece), Ok(should));
    }

    #[test]
    fn texts_of_archives_are_those_that_were_written(texts in proptest::collection::vec(any_text(), 0..5), piece in 1usize..99) {
        let rows = texts.iter().map(|name| row([("build_id", Value::Int(1)), ("filename", text(name)), ("id", Value::Int(2))]));
        let xml = response(&Value::Array(rows.collect()).xml());
        let Ok(Reply::Answers(mut answers)) = read_in(&[ARCHIVES], xml.as_bytes(), piece) else { panic!() };
        let Some(Ok(Answer::Archives(archives))) = answers.pop() else { panic!() };
        prop_assert_eq!(archives.into_iter().map(|archive| archive.filename).collect::<Vec<_>>(), texts);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_answer_and_no_bytes_panic(value in any_value(), bytes in any::<Vec<u8>>(), at in any::<prop::sample::Index>(), piece in 1usize..80) {
        let xml = response(&value.xml()).into_bytes();
        let at = at.index(xml.len());
        let mut damaged = xml.clone();
        damaged.splice(at..(at + bytes.len()).min(xml.len()), bytes.iter().copied());
        let tag = TagId(1);
        for question in [
            ARCHIVES,
            Question::LastEvent,
            Question::History { tag, after: None },
            Question::TaggedArchives { tag, event: None, inherit: false, plain: true },
        ] {
            for input in [&xml, &damaged, &bytes] {
                let both = [question.clone(), Question::Tag { tag }];
                let once = read_in(&both, input, piece).is_ok();
                prop_assert_eq!(once, read_in(&both, input, usize::MAX).is_ok());
                let _ = read_in(std::slice::from_ref(&question), input, piece);
            }
        }
    }
}
