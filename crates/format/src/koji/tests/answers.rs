//! The values of answers, with and without the members that they may lack.

use super::written::{Value, row, text};
use super::{answer, read, response};
use crate::koji::answer::{Answer, Build, Fault, History, Listing};
use crate::koji::model::*;
use crate::koji::question::Question;
use crate::koji::reading::Reply;

const TAG: TagId = TagId(4);

fn nvr(name: &str, version: &str, release: &str) -> Nvr {
    Nvr { name: name.into(), version: version.into(), release: release.into() }
}

fn one(question: Question, value: &Value) -> Answer {
    match answer(question, &value.xml()) {
        Ok(Reply::Answers(mut answers)) if answers.len() == 1 => answers.remove(0).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn archive_row() -> Value {
    row([
        ("id", Value::Int(5_000_000_000)),
        ("build_id", Value::Int(7)),
        ("maven_group_id", text("org.example")),
        ("maven_artifact_id", text("lamp")),
        ("maven_version", text("1.0")),
        ("filename", text("odd \u{fc}#%.jar")),
        ("size", Value::Int(12)),
        ("checksum_type", Value::Int(1)),
        ("checksum", text(&"0F".repeat(20))),
        ("metadata_only", Value::Boolean(false)),
        ("extra", row([("typeinfo", Value::Array(vec![Value::Nil, text("x")])), ("filename", text("another"))])),
        ("of_a_later_version", Value::Double(1.5)),
    ])
}

fn archive() -> Archive {
    Archive {
        id: 5_000_000_000,
        build: BuildId(7),
        group: "org.example".into(),
        artifact: "lamp".into(),
        version: "1.0".into(),
        filename: "odd \u{fc}#%.jar".into(),
        size_bytes: 12,
        digest: Some(FileDigest::Sha1([15; 20])),
        metadata_only: false,
    }
}

fn build_row() -> Value {
    row([
        ("build_id", Value::Int(7)),
        ("id", Value::Int(7)),
        ("name", text("lamp-parent")),
        ("version", text("1.0_redhat_1")),
        ("release", text("2")),
        ("state", Value::Int(1)),
        ("volume_name", text("archive")),
        ("tag_id", Value::Int(9)),
        ("tag_name", text("maven-base")),
        ("create_event", Value::Int(18)),
        ("completion_time", text("1970-01-01 00:00:02.678901+00:00")),
        ("owner_name", text("builder")),
    ])
}

fn tagged() -> TaggedBuild {
    TaggedBuild {
        id: BuildId(7),
        nvr: nvr("lamp-parent", "1.0_redhat_1", "2"),
        volume: "archive".into(),
        state: BuildState::Complete,
        tag: TagId(9),
        tag_name: "maven-base".into(),
        tagged: EventId(18),
        completed_ms: Some(2678),
        owner: Some("builder".into()),
    }
}

#[test]
fn a_tag_has_its_archives_and_their_builds() {
    let question = || Question::TaggedArchives { tag: TAG, event: None, inherit: false, plain: false };
    let value = Value::Array(vec![Value::Array(vec![archive_row()]), Value::Array(vec![build_row()])]);
    let expected = Answer::TaggedArchives { archives: vec![archive()], builds: vec![tagged()] };
    assert_eq!(one(question(), &value), expected);
    let empty = Value::Array(vec![Value::Array(vec![]), Value::Array(vec![])]);
    assert_eq!(one(question(), &empty), Answer::TaggedArchives { archives: vec![], builds: vec![] });
    for wrong in [vec![], vec![Value::Array(vec![])], vec![Value::Array(vec![]); 3]] {
        assert!(answer(question(), &Value::Array(wrong).xml()).is_err());
    }
}

#[test]
fn the_archives_of_a_build_have_other_names_of_columns_and_may_lack_most() {
    let question = || Question::Archives { build: BuildId(7) };
    let bare = |kind: i64, checksum: &str| {
        let row = row([
            ("id", Value::Int(1)),
            ("build_id", Value::Int(7)),
            ("group_id", text("g")),
            ("artifact_id", text("a")),
            ("version", text("1")),
            ("checksum_type", Value::Int(kind)),
            ("checksum", text(checksum)),
            ("size", Value::Int(3)),
        ]);
        match one(question(), &Value::Array(vec![row])) {
            Answer::Archives(mut archives) => archives.remove(0),
            other => panic!("{other:?}"),
        }
    };
    let first = bare(0, &"ab".repeat(16));
    assert_eq!((first.group.as_str(), first.artifact.as_str(), first.version.as_str()), ("g", "a", "1"));
    assert_eq!((first.filename.as_str(), first.digest), ("", Some(FileDigest::Md5([0xab; 16]))));
    assert_eq!(bare(2, &"00".repeat(32)).digest, Some(FileDigest::Sha256([0; 32])));
    for (kind, checksum) in [(0, "ab"), (1, &*"zz".repeat(20)), (3, &*"00".repeat(64)), (2, "")] {
        assert_eq!(bare(kind, checksum).digest, None, "{kind} {checksum}");
    }
    // A file of unknown size cannot be checked.
    let row = |size| {
        row([
            ("id", Value::Int(1)),
            ("build_id", Value::Int(7)),
            ("size", size),
            ("checksum_type", Value::Int(0)),
            ("checksum", text(&"ab".repeat(16))),
        ])
    };
    for (size, is_known) in [(Value::Int(0), true), (Value::Nil, false), (Value::Int(-1), false)] {
        let Answer::Archives(archives) = one(question(), &Value::Array(vec![row(size)])) else { panic!() };
        assert_eq!(archives[0].digest.is_some(), is_known);
    }
    let without_id = Value::Array(vec![super::written::row([("build_id", Value::Int(7))])]);
    let error = answer(question(), &without_id.xml()).unwrap_err();
    assert_eq!(error.why.to_string(), "a row has no usable `id`");
}

#[test]
fn builds_of_a_tag_come_with_the_tag_that_has_them() {
    let question = Question::Tagged { tag: TAG, event: Some(EventId(18)), inherit: true };
    assert_eq!(one(question.clone(), &Value::Array(vec![build_row()])), Answer::Tagged(vec![tagged()]));
    let bare = row([("id", Value::Int(8)), ("create_event", Value::Int(3)), ("completion_time", Value::Nil)]);
    let Answer::Tagged(builds) = one(question, &Value::Array(vec![bare])) else { panic!() };
    assert_eq!((builds[0].tag, builds[0].volume.as_str(), builds[0].state), (TAG, "DEFAULT", BuildState::Other(-1)));
    assert_eq!((builds[0].completed_ms, &builds[0].owner), (None, &None));
}

#[test]
fn each_state_of_a_build_has_its_number_and_a_build_may_be_none() {
    let question = || Question::Build { build: BuildId(7) };
    use BuildState::{Building, Canceled, Complete, Deleted, Failed, Other};
    for (number, state) in [(0, Building), (1, Complete), (2, Deleted), (3, Failed), (4, Canceled), (9, Other(9))] {
        let row = row([
            ("id", Value::Int(7)),
            ("package_name", text("lamp")),
            ("version", text("1")),
            ("release", text("1")),
            ("state", Value::Int(number)),
        ]);
        let build = Build { id: BuildId(7), nvr: nvr("lamp", "1", "1"), volume: "DEFAULT".into(), state };
        assert_eq!(one(question(), &row), Answer::Build(Some(build)));
    }
    assert_eq!(one(question(), &Value::Nil), Answer::Build(None));
    assert_eq!(one(Question::Tag { tag: TAG }, &Value::Nil), Answer::Tag(None));
}

#[test]
fn small_answers_are_read() {
    let event = |ts| row([("id", Value::Int(18)), ("ts", ts)]);
    let moment = |at_ms| Answer::LastEvent(KojiEvent { id: EventId(18), at_ms });
    assert_eq!(one(Question::LastEvent, &event(Value::Double(1_764_386_000.123_4))), moment(1_764_386_000_123));
    assert_eq!(one(Question::Event { event: EventId(18) }, &event(Value::Int(2))), moment(2000));
    assert!(answer(Question::LastEvent, &Value::Nil.xml()).is_err());
    let tag = row([("id", Value::Int(4)), ("name", text("maven-release")), ("perm", Value::Nil)]);
    let known = Tag { id: TAG, name: "maven-release".into() };
    assert_eq!(one(Question::Tag { tag: TAG }, &tag), Answer::Tag(Some(known.clone())));
    let tags = Question::Tags { pattern: "maven-*".into() };
    assert_eq!(one(tags, &Value::Array(vec![tag.clone(), tag])), Answer::Tags(vec![known.clone(), known]));
    let parent = row([("parent_id", Value::Int(9)), ("filter", Value::Array(vec![]))]);
    let question = Question::Inheritance { tag: TAG, event: None };
    assert_eq!(one(question, &Value::Array(vec![parent])), Answer::Inheritance(vec![TagId(9)]));
    let question = || Question::ChangedSince { event: EventId(1), tags: vec![TAG] };
    assert_eq!(one(question(), &Value::Boolean(true)), Answer::ChangedSince(true));
    assert!(answer(question(), &text("true").xml()).is_err());
}

fn listing(members: &[(&str, Value)]) -> Value {
    Value::Struct(members.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
}

fn history_rows() -> (Value, Value) {
    let first = listing(&[
        ("build_id", Value::Int(7)),
        ("tag_id", Value::Int(4)),
        ("name", text("lamp")),
        ("version", text("1")),
        ("release", text("1")),
        ("build.state", Value::Int(1)),
        ("create_event", Value::Int(18)),
        ("create_ts", Value::Double(1.5)),
        ("creator_name", text("anna")),
        ("revoke_event", Value::Nil),
        ("active", Value::Boolean(true)),
    ]);
    let ended = listing(&[
        ("build_id", Value::Int(8)),
        ("create_event", Value::Int(3)),
        ("revoke_event", Value::Int(20)),
        ("revoke_ts", Value::Double(9.0)),
        ("revoker_name", text("ben")),
        ("active", Value::Nil),
    ]);
    (first, ended)
}

fn history(listings: Vec<Value>, packages: Vec<Value>) -> History {
    let tables = row([("tag_listing", Value::Array(listings)), ("tag_packages", Value::Array(packages))]);
    match one(Question::History { tag: TAG, after: None }, &tables) {
        Answer::History(history) => history,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_history_has_listings_with_their_ends() {
    let (first, ended) = history_rows();
    let history =
        history(vec![first, ended], vec![row([("package_id", Value::Int(1)), ("create_event", Value::Int(2))])]);
    let event = |id, at_ms| KojiEvent { id: EventId(id), at_ms };
    assert_eq!(
        history.listings,
        [
            Listing {
                build: BuildId(7),
                nvr: nvr("lamp", "1", "1"),
                state: BuildState::Complete,
                tag: TAG,
                created: event(18, 1500),
                creator: Some("anna".into()),
                revoked: None,
            },
            Listing {
                build: BuildId(8),
                nvr: nvr("", "", ""),
                state: BuildState::Other(-1),
                tag: TAG,
                created: event(3, 0),
                creator: None,
                revoked: Some((event(20, 9000), Some("ben".into()))),
            },
        ]
    );
    assert_eq!(history.rows.iter().map(|(event, _)| event.0).collect::<Vec<_>>(), [18, 20, 2]);
}

#[test]
fn the_hashes_of_a_history_follow_what_it_says_and_not_the_order_of_members() {
    let (first, ended) = history_rows();
    let Value::Struct(mut members) = first.clone() else { panic!() };
    members.reverse();
    let reversed = Value::Struct(members.clone());
    members.iter_mut().find(|(name, _)| name == "create_ts").unwrap().1 = Value::Double(1.500_001);
    let later = Value::Struct(members);
    let digest = |listings, packages| {
        let mut rows = history(listings, packages).rows;
        rows.sort();
        rows
    };
    let all = digest(vec![first.clone(), ended.clone()], vec![]);
    assert_eq!(all, digest(vec![ended.clone(), reversed.clone()], vec![]));
    assert_eq!(all, digest(vec![ended.clone(), later], vec![]));
    for other in [
        digest(vec![first.clone()], vec![]),
        digest(vec![first.clone(), first.clone()], vec![]),
        digest(vec![first.clone(), ended.clone(), ended.clone()], vec![]),
        digest(vec![first.clone()], vec![ended.clone()]),
    ] {
        assert_ne!(all, other);
    }
    let nested = |inside: Value| history(vec![first.clone()], vec![row([("filter", Value::Array(vec![inside]))])]);
    assert_ne!(nested(Value::Int(1)), nested(Value::Int(2)));
    assert_eq!(nested(Value::Int(1)), nested(Value::Int(1)));
}

fn fault_row(code: i64, words: &str) -> Value {
    let trace = Value::Array(vec![text("Traceback"), text("  File \"/usr/lib/hub.py\"")]);
    row([("faultCode", Value::Int(code)), ("faultString", text(words)), ("traceback", trace)])
}

#[test]
fn a_fault_is_one_of_the_request_or_of_one_question_and_its_text_is_cut() {
    let xml =
        |code, words: &str| format!("<methodResponse><fault>{}</fault></methodResponse>", fault_row(code, words).xml());
    let fault = |code, words: &str| Fault { code, text: words.into() };
    assert_eq!(read(&[Question::LastEvent], &xml(1014, "off")), Ok(Reply::Fault(fault(1014, "off"))));
    let long = "\u{fc}".repeat(301);
    assert_eq!(read(&[Question::LastEvent], &xml(1, &long)), Ok(Reply::Fault(fault(1, &long[..600]))));
    let questions = [
        Question::Tag { tag: TAG },
        Question::TaggedArchives { tag: TAG, event: None, inherit: false, plain: false },
        Question::History { tag: TAG, after: None },
        Question::Archives { build: BuildId(7) },
        Question::ChangedSince { event: EventId(1), tags: vec![] },
        Question::LastEvent,
    ];
    let last = Value::Array(vec![row([("id", Value::Int(1)), ("ts", Value::Int(1))])]);
    let as_struct = |n| fault_row(n, "no");
    let as_list = |n| Value::Array(vec![fault_row(n, "no")]);
    for form in [&as_struct as &dyn Fn(i64) -> Value, &as_list] {
        let all = Value::Array((0..5).map(form).chain([last.clone()]).collect());
        let Ok(Reply::Answers(answers)) = read(&questions, &response(&all.xml())) else { panic!() };
        for (n, answer) in answers[..5].iter().enumerate() {
            assert_eq!(answer, &Err(fault(n as i64, "no")));
        }
        assert_eq!(answers[5], Ok(Answer::LastEvent(KojiEvent { id: EventId(1), at_ms: 1000 })));
    }
}

#[test]
fn a_multicall_has_an_answer_to_each_question_and_no_more() {
    let questions = [Question::Tag { tag: TAG }, Question::Build { build: BuildId(7) }];
    let nil = || Value::Array(vec![Value::Nil]);
    let read = |answers: Vec<Value>| read(&questions, &response(&Value::Array(answers).xml()));
    assert_eq!(read(vec![nil(), nil()]), Ok(Reply::Answers(vec![Ok(Answer::Tag(None)), Ok(Answer::Build(None))])));
    for wrong in [
        vec![],
        vec![nil()],
        vec![nil(), nil(), nil()],
        vec![nil(), Value::Array(vec![])],
        vec![nil(), Value::Array(vec![Value::Nil, Value::Nil])],
        vec![nil(), Value::Nil],
        vec![nil(), row([("faultString", text("no code"))])],
    ] {
        assert!(read(wrong.clone()).is_err(), "{wrong:?}");
    }
}
