//! The facts of a package, and a corpus of malicious packages.

use super::*;
use crate::gem::fixture::{self, SPEC_3_3, SPEC_3_6, archive, checksums, gem, gzip, header};
use crate::gem::{Kind, requirement::Requirement};
use proptest::prelude::*;

fn given(bytes: &[u8]) -> Result<Package, Invalid> {
    read(bytes, &Limits::default())
}

fn said(bytes: &[u8]) -> String {
    given(bytes).unwrap_err().to_string()
}

/// A gem with other `metadata.gz` and `data.tar.gz`, and correct checksums.
fn with(metadata: &[u8], data: &[u8]) -> Vec<u8> {
    let sums = checksums(&[("metadata.gz", metadata), ("data.tar.gz", data)]);
    fixture::package(&[("metadata.gz", metadata), ("data.tar.gz", data), ("checksums.yaml.gz", &sums)])
}

#[test]
fn the_facts_of_a_gem_are_taken_out() {
    let package = given(&gem(SPEC_3_3)).unwrap();
    assert_eq!(package.full_name(), "demo-lib-1.2.0.pre1-x86_64-linux-gnu");
    assert_eq!(package.authors, ["Ann Ö", "Bob"]);
    assert_eq!(package.email, ["a@example.org", "b@example.org"]);
    assert_eq!(package.summary, "A: summary # with 'odd' chars");
    assert_eq!(package.description.as_deref(), Some("Multi\nline\n\n  text: here\n"));
    assert_eq!(package.metadata["x"], "true");
    assert_eq!(package.licenses, ["MIT"]);
    assert_eq!(package.required_ruby, Requirement::parse(">= 2.7, < 4").unwrap());
    assert_eq!(package.required_rubygems, Requirement::parse(">= 3").unwrap());
    assert_eq!(package.date.as_deref(), Some("2026-11-20"));
    assert_eq!(package.rubygems_version.as_deref(), Some("3.3.15"));
    assert_eq!((package.requirements[0].as_str(), package.executables[0].as_str()), ("libfoo", "demo"));
    assert_eq!((package.specification_version, package.extensions, package.signed), (4, false, false));
    let kinds: Vec<_> =
        package.dependencies.iter().map(|dependency| (dependency.name.as_str(), dependency.kind)).collect();
    assert_eq!(kinds, [("zeta", Kind::Runtime), ("rack", Kind::Runtime), ("rake", Kind::Development)]);
}

#[test]
fn a_gem_of_a_newer_rubygems_is_read() {
    let package = given(&gem(SPEC_3_6)).unwrap();
    assert_eq!(package.full_name(), "plain-1.0");
    assert!(package.required_ruby.is_any() && package.homepage.is_none() && package.description.is_none());
}

#[test]
fn the_facts_survive_the_journal() {
    for spec in [SPEC_3_3, SPEC_3_6] {
        let package = given(&gem(spec)).unwrap();
        let text = serde_json::to_string(&package).unwrap();
        assert!(text.starts_with(r#"{"v":1,"name":"#), "{text}");
        assert_eq!(serde_json::from_str::<Package>(&text).unwrap(), package);
    }
}

#[test]
fn a_row_with_the_least_facts_can_be_read() {
    let row =
        r#"{"v":1,"name":"a","number":"1","platform":"ruby","authors":["A"],"summary":"S","specification_version":4}"#;
    assert!(serde_json::from_str::<Package>(row).unwrap().required_ruby.is_any());
}

#[test]
fn facts_have_a_limit_though_each_part_keeps_its_own() {
    let metadata = |count: usize| {
        let pair = |n| format!("  k{n:03}: {}\n", "v".repeat(1024));
        SPEC_3_6.replace("metadata: {}", &format!("metadata:\n{}", (0..count).map(pair).collect::<String>()))
    };
    let text = format!("summary: Plain\ndescription: {0}\nemail: {0}\nhomepage: x", "d".repeat(63_000));
    assert!(given(&gem(&metadata(100))).is_ok());
    assert!(given(&gem(&metadata(100).replace("summary: Plain", &text))).is_ok());
    let text = text.replace("Plain", &"s".repeat(63_000));
    assert_eq!(
        said(&gem(&metadata(100).replace("summary: Plain", &text))),
        "the gemspec without its lists of files is larger than 262144 bytes"
    );
}

#[test]
fn members_are_what_gems_have_once_each() {
    let (metadata, data) = (gzip(SPEC_3_6.as_bytes()), gzip(b"x"));
    let sums = checksums(&[("metadata.gz", &metadata), ("data.tar.gz", &data)]);
    let (m, d, c) = (("metadata.gz", &*metadata), ("data.tar.gz", &*data), ("checksums.yaml.gz", &*sums));
    let said = |members: &[(&str, &[u8])]| said(&fixture::package(members));
    assert!(given(&fixture::package(&[c, d, m])).is_ok(), "in any order");
    assert_eq!(said(&[m, d, c, m]), "the package has the member `metadata.gz` twice");
    assert_eq!(said(&[d, c]), "the package has no `metadata.gz`");
    assert_eq!(said(&[m, c]), "the package has no `data.tar.gz`");
    assert_eq!(said(&[m, d]), "the package has no `checksums.yaml.gz`");
    assert_eq!(said(&[("metadata", b"x")]), Invalid::OldLayout.to_string());
    assert_eq!(said(&[m, d, c, ("x.rb", b"x")]), "the package has an unknown member `x.rb`");
    assert_eq!(said(&[("./metadata.gz", b"x")]), "the package has an unknown member `./metadata.gz`");
    assert_eq!(said(&[]), "the package has no `metadata.gz`");
}

#[test]
fn only_a_gem_from_before_there_were_checksums_may_lack_them() {
    let old = gzip(SPEC_3_6.replace("3.6.7", "1.8.23").as_bytes());
    let members: [(&str, &[u8]); 2] = [("data.tar.gz", b"x"), ("metadata.gz", &old)];
    assert!(given(&fixture::package(&members)).is_ok());
}

#[test]
fn each_given_checksum_must_match_and_one_must_be_given() {
    let (metadata, data) = (gzip(SPEC_3_6.as_bytes()), gzip(b"x"));
    let (m, d) = (("metadata.gz", &*metadata), ("data.tar.gz", &*data));
    let said = |sums: &[u8]| said(&fixture::package(&[m, d, ("checksums.yaml.gz", sums)]));
    assert_eq!(
        said(&checksums(&[m, ("data.tar.gz", b"y")])),
        "the SHA256 checksum of `data.tar.gz` does not match `checksums.yaml.gz`"
    );
    assert_eq!(said(&checksums(&[m])), "`checksums.yaml.gz` has no SHA256 or SHA512 checksum for `data.tar.gz`");
    for algorithm in ["SHA256", "SHA512", "SHA1", "MD9"] {
        assert_eq!(
            said(&gzip(format!("{algorithm}:\n  x.rb: y\n").as_bytes())),
            "`checksums.yaml.gz` has a checksum for `x.rb`, which is not a checksummed member of the package"
        );
    }
    assert_eq!(said(&gzip(b"SHA1:\n  metadata.gz: x\n")), Invalid::MissingChecksum("metadata.gz").to_string());
    assert_eq!(
        said(&gzip(b"SHA512:\n  metadata.gz: x\n")),
        "the SHA512 checksum of `metadata.gz` does not match `checksums.yaml.gz`"
    );
    for odd in ["- a", "text", "SHA256: x", "SHA256:\n  metadata.gz: [a]"] {
        assert_eq!(said(&gzip(odd.as_bytes())), Invalid::BadChecksums.to_string(), "{odd}");
    }
}

#[test]
fn a_gem_is_signed_wholly_or_not_at_all() {
    let spec = SPEC_3_6.replace("cert_chain: []", "cert_chain:\n- |\n  -----BEGIN CERTIFICATE-----");
    let build = |spec: &str, signatures: &[&'static str]| {
        let (metadata, data) = (gzip(spec.as_bytes()), gzip(b"x"));
        let sums = checksums(&[("metadata.gz", &metadata), ("data.tar.gz", &data)]);
        let mut members: Vec<(&str, &[u8])> =
            vec![("metadata.gz", &metadata), ("data.tar.gz", &data), ("checksums.yaml.gz", &sums)];
        members.extend(signatures.iter().map(|name| (*name, b"signature".as_slice())));
        given(&fixture::package(&members))
    };
    assert!(build(&spec, &SIGNATURES).unwrap().signed);
    for (spec, signatures) in
        [(&*spec, &SIGNATURES[..2]), (&spec, &SIGNATURES[1..]), (SPEC_3_6, &SIGNATURES), (SPEC_3_6, &SIGNATURES[..1])]
    {
        assert_eq!(build(spec, signatures).unwrap_err().to_string(), Invalid::SignedInPart.to_string());
    }
    assert_eq!(
        build(&spec, &[]).unwrap_err().to_string(),
        "the gemspec has a `cert_chain`, and the package has no signatures"
    );
}

#[test]
fn only_plain_headers_of_regular_files_are_read() {
    let odd = |change: &dyn Fn(&mut tar::Header)| {
        let mut header = header("metadata.gz", 1);
        change(&mut header);
        header.set_cksum();
        said(&archive(&[(header, b"x")]))
    };
    for kind in [tar::EntryType::Symlink, tar::EntryType::Link, tar::EntryType::Directory, tar::EntryType::Fifo] {
        assert_eq!(
            odd(&|h| h.set_entry_type(kind)),
            "`metadata.gz` is not a regular file, but all members of a gem must be"
        );
    }
    assert_eq!(odd(&|h| h.set_link_name("/etc/passwd").unwrap()), Invalid::NotAFile("metadata.gz".into()).to_string());
    for kind in [
        tar::EntryType::GNULongName,
        tar::EntryType::GNULongLink,
        tar::EntryType::XHeader,
        tar::EntryType::XGlobalHeader,
    ] {
        assert_eq!(
            odd(&|h| h.set_entry_type(kind)),
            Invalid::BadHeader("extended headers are not supported").to_string()
        );
    }
    let size = "the package has a damaged or unsupported tar header: a size is not an octal number";
    for bytes in [
        &b"-0000000001\0"[..],
        b"99999999999\0",
        b"\x80\0\0\0\0\0\0\0\0\0\0\x01",
        b"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
        b"           \0",
        b"0x000000001\0",
        b"1 1        \0",
    ] {
        assert_eq!(odd(&|h| h.as_old_mut().size.copy_from_slice(bytes)), size);
    }
    assert_eq!(
        odd(&|h| h.as_ustar_mut().unwrap().prefix[0] = b'a'),
        Invalid::BadHeader("a name has a prefix").to_string()
    );
    assert_eq!(odd(&|h| h.as_old_mut().name[50] = b'a'), Invalid::BadHeader("a name is not plain text").to_string());
    assert_eq!(
        odd(&|h| h.as_ustar_mut().unwrap().version = *b" \0"),
        Invalid::BadHeader("it is not a POSIX ustar header").to_string()
    );
    let mut wrong = header("metadata.gz", 1);
    wrong.as_old_mut().mode[3] = b'7';
    assert_eq!(said(&archive(&[(wrong, b"x")])), Invalid::BadHeader("its checksum is wrong").to_string());
    assert_eq!(said(b"--- !ruby/object:Gem::Specification".repeat(20).as_slice()), Invalid::NotAnArchive.to_string());
}

#[test]
fn a_size_that_lies_ends_where_the_bytes_end() {
    let lie = archive(&[(header("data.tar.gz", 0o77_777_777_777), b"x")]);
    assert_eq!(said(&lie), "the package is cut short: it ends within `data.tar.gz`");
    let lie = archive(&[(header("metadata.gz", 0o77_777_777_777), b"x")]);
    assert_eq!(said(&lie), "`metadata.gz` is larger than 10485760 bytes");
    let lie = archive(&[(header("metadata.gz", 0), &gzip(b"x"))]);
    assert_eq!(said(&lie), Invalid::BadHeader("its checksum is wrong").to_string());
}

#[test]
fn a_package_that_is_cut_anywhere_is_refused() {
    let whole = gem(SPEC_3_6);
    for length in 0..whole.len() {
        assert!(given(&whole[..length]).is_err(), "{length} of {}", whole.len());
    }
    assert_eq!(said(b""), "this is not a gem: it does not begin with a ustar header");
    assert_eq!(said(&whole[..512 + 9]), "the package is cut short: it ends within `metadata.gz`");
    assert_eq!(said(&whole[..whole.len() - 1]), "the package is cut short: it ends within its end");
    assert!(given(&[&*whole, &[0; 9000]].concat()).is_ok(), "a record padded with zeros");
    assert_eq!(said(&[&*whole, b"x"].concat()), "the package has bytes after its end");
    assert_eq!(said(&[&*whole, &*whole].concat()), "the package has bytes after its end");
}

#[test]
fn a_bomb_stops_at_the_limit() {
    let bomb = gzip(&vec![b'a'; 12 << 20]);
    assert!(bomb.len() < 20_000);
    assert_eq!(said(&with(&bomb, b"x")), "`metadata.gz` is larger than 10485760 bytes");
    let metadata = gzip(SPEC_3_6.as_bytes());
    let members: [(&str, &[u8]); 3] = [("metadata.gz", &metadata), ("data.tar.gz", b"x"), ("checksums.yaml.gz", &bomb)];
    assert_eq!(said(&fixture::package(&members)), "`checksums.yaml.gz` is larger than 10485760 bytes");
    assert!(given(&with(&metadata, &bomb)).is_ok(), "the content is never unpacked");
}

#[test]
fn a_member_is_one_gzip_stream_of_utf_8() {
    let spec = gzip(SPEC_3_6.as_bytes());
    assert_eq!(said(&with(b"x", b"x")), "`metadata.gz` is not a valid gzip file");
    assert_eq!(said(&with(&spec[..spec.len() - 3], b"x")), "`metadata.gz` is not a valid gzip file");
    assert_eq!(said(&with(&[&*spec, &*spec].concat(), b"x")), "`metadata.gz` is not a valid gzip file");
    assert_eq!(said(&with(&gzip(b"\xff"), b"x")), "`metadata.gz` is not UTF-8 text");
}

#[test]
fn a_failing_disk_is_not_the_package_s_fault() {
    struct Fails;
    impl Read for Fails {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk"))
        }
    }
    assert!(read(Fails, &Limits::default()).unwrap_err().is_ours());
    assert!(!given(b"").unwrap_err().is_ours());
}

/// Reads a gem that was published elsewhere, with this gemspec.
fn found(spec: &str) -> Result<Package, Invalid> {
    read_installable(gem(spec).as_slice(), &Limits::default())
}

#[test]
fn a_gem_that_may_be_pushed_has_the_same_facts_if_it_was_published_elsewhere() {
    for spec in [SPEC_3_3, SPEC_3_6] {
        assert_eq!(found(spec).unwrap(), given(&gem(spec)).unwrap());
    }
}

#[test]
fn aliases_of_a_gem_that_was_published_elsewhere_are_expanded_within_the_limits() {
    let any = "!ruby/object:Gem::Requirement\n    none: false\n    requirements:\n    - - ! '>='\n      - !ruby/object:Gem::Version\n        version: '3'";
    let dependency = format!(
        "dependencies:\n- !ruby/object:Gem::Dependency\n  name: a\n  requirement: &7 {any}\n  version_requirements: *7\n- \
         !ruby/object:Gem::Dependency\n  name: b\n  version_requirements: *7"
    );
    let spec = SPEC_3_6.replacen("dependencies: []", &dependency, 1);
    assert!(matches!(given(&gem(&spec)), Err(Invalid::Aliases(_))));
    let needs: Vec<_> = found(&spec).unwrap().dependencies.into_iter().map(|one| one.requirement.to_string()).collect();
    assert_eq!(needs, [">= 3", ">= 3"]);

    let with = |lines: &str| found(&SPEC_3_6.replacen("test_files: []", lines, 1));
    let too_large = |lines: &str| assert!(matches!(with(lines), Err(Invalid::YamlTooLarge { .. })), "{lines:.60}");
    let doubled: String = (1..20).map(|level| format!("x{level}: &a{level} [*a{0}, *a{0}]\n", level - 1)).collect();
    too_large(&format!("x0: &a0 [x]\n{doubled}"));
    let nested: String = (1..20).map(|level| format!("x{level}: &a{level} [[*a{}]]\n", level - 1)).collect();
    too_large(&format!("x0: &a0 [x]\n{nested}"));
    too_large(&format!("x: &a {}\ny: [{}]", "x".repeat(100_000), "*a,".repeat(200)));
    assert!(with("x: &a [*a]").unwrap_err().to_string().ends_with("an alias of a value that it is in"));
    assert!(with("x: &a [b]\ny: *a\nz: &a [c]\nx2: *a").is_ok());
}

#[test]
fn what_is_odd_in_a_gem_that_was_published_elsewhere_is_read_as_rubygems_reads_it() {
    let with = |line: &str, other: &str| {
        assert!(SPEC_3_6.contains(line), "{line}");
        found(&SPEC_3_6.replacen(line, other, 1)).unwrap()
    };
    assert_eq!(with("summary: Plain", "summary: One\nsummary: Two").summary, "Two");
    assert_eq!(found(&format!("{SPEC_3_6}--- {{}}\n")).unwrap().summary, "Plain");
    assert_eq!(with("summary: Plain", "summary: \"a\\e[2Jb\"").summary, "a[2Jb");
    assert_eq!(with("summary: Plain", "summary: [a]").summary, "");
    assert_eq!(
        with("authors:\n- Ann", "authors:\n- !binary SvZyZw==\n- {a: b}\n- Bob").authors,
        ["J\u{fffd}rg", "Bob"]
    );
    assert_eq!(with("licenses: []", &format!("licenses: [{}]", "a".repeat(100))).licenses, ["a".repeat(64)]);
    let metadata = with("metadata: {}", "metadata: {homepage_uri: none, a: [], b: c}").metadata;
    assert_eq!(metadata.into_iter().collect::<Vec<_>>(), [("b".to_owned(), "c".to_owned())]);
    assert_eq!(with("date: 1980-01-02 00:00:00.000000000 Z", "date: Sun Mar 04").date, None);
    assert_eq!(with("name: plain", "name: _plain").full_name(), "_plain-1.0");
    assert_eq!(with("version: '1.0'\nplatform", "version: ' 1.0'\nplatform").number.as_str(), "1.0");
    assert_eq!(with("platform: ruby", "platform: ruby\nnew_platform: java").platform, "ruby");
    let needs = |requirement: &str| {
        let dependency = format!(
            "dependencies:\n- !ruby/object:Gem::Dependency\n  name: a\n  type: !ruby/sym development\n  {requirement}"
        );
        let needed = with("dependencies: []", &dependency).dependencies.remove(0);
        assert_eq!(needed.kind, Kind::Development);
        needed.requirement.to_string()
    };
    let pair = "requirement: !ruby/object:Gem::Requirement\n    requirements:\n    - -";
    assert_eq!(needs(&format!("{pair} !ruby/object:YAML::Syck::DefaultKey {{}}\n      - 1.0.0")), "= 1.0.0");
    assert_eq!(needs(&format!("{pair} '>'\n      - !ruby/object:Gem::Version\n        version: 1")), "> 1");
    assert_eq!(needs("version_requirements: !ruby/object:Gem::Version::Requirement\n    version: '> 2'"), "> 2");
    assert_eq!(needs("requirement:"), ">= 0");
    for (line, other) in
        [("name: plain", "name: a b"), ("- Ann", "- !ruby/object:OpenStruct {a: b}"), ("'1.0'", "../1")]
    {
        assert!(found(&SPEC_3_6.replacen(line, other, 1)).is_err(), "{other}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn changed_bytes_never_panic_and_never_change_the_facts(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let whole = gem(SPEC_3_3);
        let mut bytes = whole.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(package) = given(&bytes) {
            prop_assert_eq!(package, given(&whole).unwrap());
        }
    }
}
