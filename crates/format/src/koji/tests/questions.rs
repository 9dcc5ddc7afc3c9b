//! How questions are written.

use crate::koji::model::{BuildId, EventId, TagId};
use crate::koji::question::Question;
use crate::koji::request::{REQUEST_MAX, TooMany, write};

fn text(questions: &[Question]) -> String {
    String::from_utf8(write(questions).unwrap()).unwrap()
}

fn value(kind: &str, text: &str) -> String {
    format!("<value><{kind}>{text}</{kind}></value>")
}

#[test]
fn one_question_is_a_call_with_named_arguments() {
    let question = Question::TaggedArchives { tag: TagId(4), event: Some(EventId(18)), inherit: true, plain: false };
    let text = text(&[question]);
    let members = [
        ("__starstar", "boolean", "1"),
        ("type", "string", "maven"),
        ("inherit", "boolean", "1"),
        ("latest", "boolean", "0"),
        ("strict", "boolean", "1"),
        ("event", "int", "18"),
        ("extra", "boolean", "0"),
    ];
    let members: String = members
        .iter()
        .map(|(name, kind, text)| format!("<member><name>{name}</name>{}</member>", value(kind, text)))
        .collect();
    assert_eq!(
        text,
        format!(
            "<?xml version='1.0'?>\n<methodCall><methodName>listTaggedArchives</methodName><params><param>{}</param>\
             <param><value><struct>{members}</struct></value></param></params></methodCall>\n",
            value("int", "4"),
        )
    );
}

#[test]
fn several_questions_are_one_multicall() {
    let text = text(&[Question::LastEvent, Question::Build { build: BuildId(7) }]);
    assert!(text.contains("<methodName>multiCall</methodName>"));
    for method in ["getLastEvent", "getBuild"] {
        assert!(text.contains(&format!("<member><name>methodName</name>{}</member>", value("string", method))));
    }
    let seven = value("int", "7");
    assert!(
        text.contains(&format!(
            "<member><name>params</name><value><array><data>{seven}</data></array></value></member>"
        ))
    );
}

#[test]
fn arguments_are_escaped_and_large_numbers_have_64_bits() {
    let pattern = "a<b&c>\u{fc}\u{1}".to_owned();
    let all = text(&[Question::Tags { pattern }]);
    assert!(all.contains(&value("string", "a&lt;b&amp;c&gt;\u{fc}\u{fffd}")), "{all}");
    let all = text(&[Question::ChangedSince { event: EventId(5_000_000_000), tags: vec![TagId(1), TagId(2)] }]);
    assert!(all.contains(&value("i8", "5000000000")), "{all}");
    assert!(all.contains(&format!("<array><data>{}{}</data></array>", value("int", "1"), value("int", "2"))));
    let all = text(&[Question::History { tag: TagId(4), after: None }]);
    assert!(all.contains("tag_inheritance") && !all.contains("afterEvent"), "{all}");
}

#[test]
fn more_questions_than_fit_are_refused_with_the_number_that_fits() {
    let questions = vec![Question::Build { build: BuildId(7) }; 60_000];
    let TooMany { fit } = write(&questions).unwrap_err();
    let most = write(&questions[..fit]).unwrap().len();
    assert!(most <= REQUEST_MAX && most > REQUEST_MAX - 300, "{fit} {most}");
    assert_eq!(write(&questions[..=fit]), Err(TooMany { fit }));
    let pattern = "x".repeat(REQUEST_MAX);
    assert_eq!(write(&[Question::Tags { pattern }]), Err(TooMany { fit: 0 }));
}
