//! Gemspecs that are old, unusual or malicious.

use super::*;
use crate::gem::fixture::{SPEC_3_3, SPEC_3_6};
use crate::gem::limits::Limits;
use crate::gem::yaml;
use proptest::prelude::*;

fn given(spec: &str) -> Result<Package, Invalid> {
    read(&yaml::read("metadata.gz", spec, &Limits::default(), Standard::Push)?, &Limits::default(), Standard::Push)
        .map(|(package, _)| package)
}

/// A gemspec in which one line is replaced by another.
fn with(line: &str, other: &str) -> Result<Package, Invalid> {
    assert!(SPEC_3_6.contains(line), "{line}");
    given(&SPEC_3_6.replacen(line, other, 1))
}

fn said(line: &str, other: &str) -> String {
    with(line, other).unwrap_err().to_string()
}

const VERSION: &str = "version: !ruby/object:Gem::Version\n  version: '1.0'";

#[test]
fn names_that_would_forge_a_line_or_leave_the_folder_are_refused() {
    let why = "can only include letters, numbers, dashes, periods, and underscores";
    assert_eq!(said("name: plain", r#"name: "a 1.0\nb""#), format!(r"the gem name `a 1.0\nb` {why}"));
    assert_eq!(said("name: plain", "name: ../../etc/cron"), format!("the gem name `../../etc/cron` {why}"));
    assert_eq!(said("name: plain", "name: [a]"), "`name` of the gemspec must be a text");
    assert_eq!(said("name: plain", "name:"), "the gemspec has no `name`");
    assert_eq!(said("'1.0'", "\"1.0\\n2\""), r"`1.0\n2` is not a valid version");
    assert_eq!(said("'1.0'", "1.0-java"), "`1.0-java` is not a valid version");
    assert_eq!(said("'1.0'", "../1"), "`../1` is not a valid version");
    assert_eq!(said("platform: ruby", "platform: a b"), "`a b` is not a valid platform");
    assert_eq!(said("platform: ruby", "platform: '../x'"), "`../x` is not a valid platform");
    let dependency = |name: &str| {
        said("dependencies: []", &format!("dependencies:\n- !ruby/object:Gem::Dependency\n  name: {name}"))
    };
    assert_eq!(dependency("\"a:>= 0|checksum:x\""), format!("the gem name `a:>= 0|checksum:x` {why}"));
}

#[test]
fn a_requirement_cannot_forge_a_line() {
    let needs = |op: &str, version: &str| {
        said(
            "dependencies: []",
            &format!(
                "dependencies:\n- !ruby/object:Gem::Dependency\n  name: a\n  requirement: !ruby/object:Gem::Requirement\n    requirements:\n    - - \"{op}\"\n      - \"{version}\""
            ),
        )
    };
    assert_eq!(needs(">= 0,b:>=", "1"), "`>= 0,b:>=` is not a valid requirement");
    assert_eq!(needs(">=", "1|x"), "`1|x` is not a valid version");
}

#[test]
fn aliases_are_refused_in_their_own_words() {
    let bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]";
    assert_eq!(said("test_files: []", bomb), "`metadata.gz` has YAML aliases");
    assert_eq!(
        said("test_files: []", "x: *nobody"),
        r#"line 36 of `metadata.gz` is not valid YAML: while parsing node, found unknown anchor"#
    );
    assert!(with("test_files: []", "test_files: &unused []").is_ok());
}

#[test]
fn objects_are_never_more_than_the_list_allows() {
    for tag in [
        "!ruby/object:OpenStruct",
        "!ruby/object:Gem::Installer",
        "!ruby/hash:Foo",
        "!ruby/struct:Foo",
        "!ruby/class",
        "!ruby/object:Gem::Specification::X",
        "!object:Gem::Source",
        "!set",
        "!ruby/array:Foo",
        "!ruby/exception:E",
    ] {
        assert_eq!(
            said("test_files: []", &format!("x: {tag}\n  a: b")),
            format!("the YAML tag `{tag}` is not allowed in a gem")
        );
    }
    for tag in ["!ruby/symbol", "!ruby/object:Gem::Version", "!ruby/sym", "!float", "!ruby/range"] {
        assert_eq!(
            said("test_files: []", &format!("x: {tag} a")),
            format!("the YAML tag `{tag}` is not allowed in a gem")
        );
    }
    let disguised = format!("%TAG !x! !ruby/object:\n{}", SPEC_3_6.replace("test_files: []", "x: !x!OpenStruct {}"));
    assert_eq!(
        given(&disguised).unwrap_err().to_string(),
        "`metadata.gz` has a `%TAG` directive, which is not allowed in a gem"
    );
    for (tag, read) in [
        ("!str plain text", "plain text"),
        ("! 1", "1"),
        ("!binary |-\n  w4RwZmVs", "Äpfel"),
        ("!binary w4Rw\n  ZmVs", "Äpfel"),
    ] {
        assert_eq!(with("summary: Plain", &format!("summary: {tag}")).unwrap().summary, read);
    }
    assert_eq!(said("summary: Plain", "summary: !binary '%'"), "`!binary` of the gemspec must be UTF-8 text in base64");
    assert_eq!(
        said("summary: Plain", "summary: !binary /w=="),
        "`!binary` of the gemspec must be UTF-8 text in base64"
    );
    assert_eq!(given("--- {}").unwrap_err().to_string(), "`metadata.gz` of the gemspec must be a `Gem::Specification`");
}

#[test]
fn two_readers_see_the_same_gemspec() {
    assert_eq!(said("platform: ruby", "platform: ruby\nname: other"), "`metadata.gz` has the key `name` twice");
    assert_eq!(
        said("platform: ruby", "platform: ruby\n? !binary bmFtZQ==\n: other"),
        "`metadata.gz` has the key `name` twice"
    );
    assert_eq!(
        said("platform: ruby", "<<: {name: other}"),
        "line 5 of `metadata.gz` is not valid YAML: a key that is not a text"
    );
    assert!(
        given(&format!("{SPEC_3_6}--- {{}}\n"))
            .unwrap_err()
            .to_string()
            .ends_with("is not valid YAML: a second document")
    );
    for line_break in ["\u{85}", "\u{2028}", "\u{2029}"] {
        assert_eq!(
            said("summary: Plain", &format!("summary: Plain{line_break}name: other")),
            "`metadata.gz` has the key `name` twice"
        );
    }
    assert_eq!(
        said("date: 1980", "na#me: x\ndate: 1980"),
        "line 38 of `metadata.gz` is not valid YAML: an object has a key that is not the name of a field"
    );
    assert_eq!(said("name: plain", "name: nuLL"), "the gemspec has no `name`");
    assert_eq!(given("").unwrap_err().to_string(), "line 1 of `metadata.gz` is not valid YAML: it is empty");
}

#[test]
fn yaml_stops_at_its_limits() {
    let too =
        |what: &str, spec: &str| assert_eq!(given(spec).unwrap_err().to_string(), format!("`metadata.gz` has {what}"));
    too("values that are nested too deep", &"- ".repeat(100));
    too("values that are nested too deep", &format!("{}{}", "[".repeat(100), "]".repeat(100)));
    too("too many values", &"- a\n".repeat(200_001));
    too("a value that is too long", &"a".repeat(1 << 20));
    too("a value that is too long", &format!("\"{}", "a".repeat(1 << 20)));
    too("a value that is too long", &format!("# {}", "a".repeat(1 << 20)));
    // The scanner would keep all tokens until it knows whether the list is a key.
    too("a value that is too long", &format!("[{}", "a, ".repeat(1 << 20)));
    too("a value that is too long", &"\n".repeat(1 << 20));
}

#[test]
fn fields_have_limits_and_what_is_required_is_there() {
    let long = "a".repeat(64_001);
    assert_eq!(
        said("summary: Plain", &format!("summary: {long}")),
        "`summary` of the gemspec is longer than 64000 characters"
    );
    assert!(with("summary: Plain", &format!("summary: {}", &long[1..])).is_ok());
    assert_eq!(said("summary: Plain", "x: y"), "the gemspec has no `summary`");
    assert_eq!(said("summary: Plain", "summary: ' '"), "the gemspec has no `summary`");
    assert_eq!(
        said("cert_chain: []", &format!("cert_chain: [{long}]")),
        "`cert_chain` of the gemspec is longer than 64000 characters"
    );
    assert_eq!(said("authors:\n- Ann", "authors: []"), "the gemspec has no `authors`");
    assert_eq!(said(VERSION, "x: y"), "the gemspec has no `version`");
    assert_eq!(
        said("licenses: []", &format!("licenses: [{}]", &long[..65])),
        "`licenses` of the gemspec is longer than 64 characters"
    );
    let metadata = |pair: &str| said("metadata: {}", &format!("metadata:\n  {pair}"));
    assert_eq!(metadata(&format!("{}: x", &long[..129])), "`metadata` of the gemspec is longer than 128 characters");
    assert_eq!(metadata(&format!("x: {}", &long[..1025])), "`metadata` of the gemspec is longer than 1024 characters");
    assert_eq!(metadata("a: []"), "`metadata` of the gemspec must be a mapping of texts to texts");
    assert_eq!(metadata("homepage_uri: javascript:x"), "metadata `homepage_uri` must be an http or https link");
    assert_eq!(metadata("wiki_uri: 'https://a b'"), "metadata `wiki_uri` must be an http or https link");
    assert_eq!(said("date: 1980-01-02", "date: someday"), "`date` of the gemspec must be a date");
}

#[test]
fn a_text_that_would_drive_a_terminal_is_refused() {
    for (line, field) in [
        ("summary: Plain", "summary"),
        ("authors:\n- Ann", "authors"),
        ("licenses: []", "licenses"),
        ("requirements: []", "requirements"),
    ] {
        let other = format!("{field}: \"a\\e]0;b\\a\"");
        assert_eq!(said(line, &other), format!("`{field}` of the gemspec has control characters"));
    }
    for escape in ["\\0", "\\b", "\\x7f", "\\u009b"] {
        assert!(with("summary: Plain", &format!("summary: \"a{escape}\"")).is_err(), "{escape}");
        assert!(with("metadata: {}", &format!("metadata: {{\"a{escape}\": b}}")).is_err(), "{escape}");
    }
    assert!(with("summary: Plain", "summary: \"a\\tb\\r\\nc\"").is_ok());
}

#[test]
fn a_platform_that_clients_would_take_for_another_is_refused() {
    let unclear = |platform: &str| {
        let error = with("platform: ruby", platform).unwrap_err();
        assert_eq!(error.fault(), crate::gem::Fault::Platform);
        error.to_string()
    };
    assert_eq!(
        unclear("platform: current"),
        "malformed platform attributes: `current` is another platform on each machine"
    );
    assert_eq!(unclear("platform: Ruby"), "malformed platform attributes: `ruby` is written in small letters");
    for older in
        ["original_platform: java", "new_platform: java", "new_platform: !ruby/object:Gem::Platform {os: java}"]
    {
        assert_eq!(
            unclear(&format!("platform: ruby\n{older}")),
            "malformed platform attributes: the gemspec has more than one platform"
        );
        assert!(with("platform: ruby", &format!("platform: java\n{older}")).is_ok(), "{older}");
    }
    assert!(with("platform: ruby", "original_platform:").is_ok_and(|package| package.platform == "ruby"));
}

#[test]
fn addresses_are_one_text_or_a_list_or_none_as_the_gemspec_has_them() {
    for (yaml, addresses, list) in [
        ("", &[][..], false),
        ("email:", &[], false),
        ("email: []", &[], true),
        ("email: ''", &[""], false),
        ("email: a@example.org", &["a@example.org"], false),
        ("email:\n- a@example.org", &["a@example.org"], true),
        // That it is a list goes without saying.
        ("email:\n- a@example.org\n- b@example.org", &["a@example.org", "b@example.org"], false),
    ] {
        let package = with("licenses: []", yaml).unwrap();
        assert_eq!(
            (package.email.iter().map(String::as_str).collect::<Vec<_>>(), package.email_list),
            (addresses.to_vec(), list),
            "{yaml}"
        );
    }
}

#[test]
fn what_old_gems_have_is_understood() {
    let package = with("authors:\n- Ann", "authors:\n- - Ann\n  - \n- Bob").unwrap();
    assert_eq!(package.authors, ["Ann", "Bob"]);
    assert_eq!(with("dependencies: []", "dependencies:").unwrap().dependencies, []);
    assert_eq!(
        with("licenses: []", "licenses:\n- \nemail: a@example.org\nbinary: false").unwrap().email,
        ["a@example.org"]
    );
    assert_eq!(
        with("date: 1980-01-02 00:00:00.000000000 Z", "date: 2007-03-04").unwrap().date.as_deref(),
        Some("2007-03-04")
    );
    assert_eq!(
        with("platform: ruby", "platform: !ruby/object:Gem::Platform\n  cpu: x86\n  os: mswin32\n  version: '60'")
            .unwrap()
            .platform,
        "x86-mswin32-60"
    );
    assert_eq!(with("platform: ruby", "platform: ''").unwrap().platform, "ruby");
    assert_eq!(with(VERSION, "version: 1.0.5").unwrap().number.as_str(), "1.0.5");
    let bare = "dependencies:\n- !ruby/object:Gem::Dependency\n  name: a\n  version_requirement: ";
    let package = with("dependencies: []", bare).unwrap();
    assert!(package.dependencies[0].requirement.is_any() && package.dependencies[0].kind == Kind::Runtime);
}

#[test]
fn what_ruby_would_read_as_something_else_is_refused_unless_in_quotes() {
    // Psych reads these as booleans, integers, floats and dates.
    let no_texts =
        ["on", "No", "TRUE", "off", "0x1f", "0b11", "1.e-5", "1.5e-3", "2020-1-02", "1_0", "017", "20", "1.2"];
    let refused =
        |field| format!("`{field}` of the gemspec must be in quotes, otherwise Ruby does not read it as a text");
    let dependency = "dependencies:\n- !ruby/object:Gem::Dependency\n  name: ";
    for no_text in no_texts {
        assert_eq!(said("name: plain", &format!("name: {no_text}")), refused("name"));
        assert_eq!(said("name: plain", &format!("name: ! {no_text}")), refused("name"));
        assert_eq!(said("platform: ruby", &format!("platform: {no_text}")), refused("platform"));
        assert_eq!(said("'1.0'", no_text), refused("version"));
        assert_eq!(said("dependencies: []", &format!("{dependency}{no_text}")), refused("name"));
        for text in [format!("'{no_text}'"), format!("!str {no_text}")] {
            assert!(with("platform: ruby", &format!("platform: {text}")).is_ok(), "{text}");
        }
    }
    for text in ["3scale", "0xg", "0b12", "y", "n", "onto", "1.0.0", "2020-1-1-1", "nan", "e-5"] {
        assert_eq!(with("platform: ruby", &format!("platform: {text}")).unwrap().platform, text);
    }
    for typed in ["!null a", "!timestamp a", "!int:Fixnum 'a'"] {
        assert_eq!(said("name: plain", &format!("name: {typed}")), "`name` of the gemspec must be a text");
    }
    let spaced = "`version` of the gemspec must be a version without white space around it";
    for version in ["' 1.0'", "\"1.0\\n\"", "' '", "\"\\u00a01\""] {
        assert_eq!(said("'1.0'", version), spaced);
    }
}

#[test]
fn requirements_that_no_client_reads_any_more_are_refused() {
    for form in ["none: true", "version: '>= 1'", "requirements: '>= 1'"] {
        let requirement = format!("version_requirements: !ruby/object:Gem::Version::Requirement\n    {form}");
        let dependency = format!("dependencies:\n- !ruby/object:Gem::Dependency\n  name: a\n  {requirement}");
        assert_eq!(said("dependencies: []", &dependency), "`requirement` of the gemspec must be a requirement");
    }
}

#[test]
fn one_gem_cannot_bring_lists_without_end_into_the_journal() {
    let list = |items: usize, item: &str| item.repeat(items);
    let authors = |count| with("authors:\n- Ann", &format!("authors:\n{}", list(count, "- A\n")));
    assert!(authors(256).is_ok());
    assert_eq!(authors(257).unwrap_err().to_string(), "the gemspec has more than 256 `authors`");
    let dependencies = |count| {
        with(
            "dependencies: []",
            &format!("dependencies:\n{}", list(count, "- !ruby/object:Gem::Dependency\n  name: a\n")),
        )
    };
    assert!(dependencies(1000).is_ok());
    assert_eq!(dependencies(1001).unwrap_err().to_string(), "the gemspec has more than 1000 `dependencies`");
    let metadata = |count| {
        let pairs: String = (0..count).map(|n| format!("  k{n}: v\n")).collect();
        with("metadata: {}", &format!("metadata:\n{pairs}"))
    };
    assert!(metadata(128).is_ok());
    assert_eq!(metadata(129).unwrap_err().to_string(), "the gemspec has more than 128 `metadata`");
    let constraints = list(257, "  - - '>='\n    - '0'\n");
    let ruby = "  - - \">=\"\n    - !ruby/object:Gem::Version\n      version: '0'\n";
    assert_eq!(said(ruby, &constraints), "the gemspec has more than 256 `required_ruby_version`");
}

#[test]
fn the_value_of_a_kind_must_be_known() {
    let kind = "dependencies:\n- !ruby/object:Gem::Dependency\n  name: a\n  type: :optional";
    for text in [":optional", "':runtime'", "!str :runtime", "runtime"] {
        assert_eq!(
            said("dependencies: []", &kind.replace(":optional", text)),
            "`type` of the gemspec must be `:runtime` or `:development`"
        );
    }
    assert_eq!(
        said("dependencies: []", "dependencies:\n- a"),
        "`dependencies` of the gemspec must be a list of `Gem::Dependency`"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn changed_text_never_panics_and_what_is_read_is_safe_in_an_index(
        changes in prop::collection::vec((any::<prop::sample::Index>(), "[ -~\n\t\u{e4}\u{2028}]{0,4}|[-?:,\\[\\]{}#&*!|>'\"%@`<~.]{1,3}"), 1..6),
    ) {
        let mut spec = SPEC_3_3.to_owned();
        for (at, text) in changes {
            let mut at = at.index(spec.len());
            while !spec.is_char_boundary(at) { at -= 1; }
            let end = (at + 1..=spec.len()).find(|end| spec.is_char_boundary(*end)).unwrap();
            spec.replace_range(at..end, &text);
        }
        if let Ok(package) = given(&spec) {
            let line = crate::gem::info::line(&package, "x", 0, crate::gem::info::FormatVersion::V2);
            prop_assert!(line.bytes().all(|byte| (b' '..=b'~').contains(&byte)), "{}", line);
            prop_assert_eq!(line.matches('|').count(), 1);
            let file = format!("gems/{}.gem", package.full_name());
            prop_assert!(crate::gem::path::read(&file).is_some());
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[-?:,\\[\\]{}#&*!|>'\"%@`<~.a \n]{0,200}") {
        let _ = given(&text);
    }
}
