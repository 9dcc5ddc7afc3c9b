//! Our rules for versions and platforms agree with RubyGems, which is asked about thousands of them.

use crate::world::Ruby;
use format::gem::{Platform, Version};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::cmp::Ordering;

const PAIRS: usize = 4000;
/// Short parts of few letters, so that many pairs are nearly equal; long parts; and the limits of RubyGems.
const VERSION: &str = "[0-9]{1,2}(\\.([0-3]{1,2}|0{1,3}|[abAB]{1,2}|[ab][01]|[01][ab]|rc1|pre|[0-9]{18,25})){0,4}(-[0a]{1,2}(\\.[01a]){0,2})?";

fn samples<S: Strategy>(strategy: S, count: usize) -> Vec<S::Value> {
    let random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

#[test]
fn versions_are_ordered_told_apart_and_known_as_prereleases_as_ruby_does() {
    let mut pairs = samples((VERSION, VERSION), PAIRS);
    // Equal versions with different spellings.
    pairs.extend(pairs.clone().into_iter().take(500).map(|(a, _)| (a.clone(), format!("{a}.0"))));
    let lines: String = pairs.iter().map(|(a, b)| format!("{a} {b}\n")).collect();
    let said = Ruby::here().judge(
        lines.as_bytes(),
        "File.foreach(ARGV[0]) do |line|
           a, b = line.split.map { |text| Gem::Version.new(text) }
           puts \"#{a <=> b} #{a.prerelease?} #{b.prerelease?}\"
         end",
    );
    assert_eq!(said.lines().count(), pairs.len());
    let mut seen = [0; 3];
    for ((a, b), said) in pairs.iter().zip(said.lines()) {
        let [one, other] = [a, b].map(|text| Version::parse(text).unwrap());
        let order = one.cmp(&other);
        let ours = format!("{} {} {}", order as i8, one.prerelease(), other.prerelease());
        assert_eq!(ours, said, "{a} and {b}");
        assert_eq!(one == other, order == Ordering::Equal);
        seen[usize::try_from(order as i8 + 1).unwrap()] += 1;
    }
    assert!(seen.iter().all(|count| *count > 100), "too few of a kind: {seen:?}");
}

#[test]
fn what_ruby_takes_for_a_version_we_take_for_one_and_nothing_else() {
    let odd = "[0-9a.\\- _\n]{0,6}|[0-9]\\.[a-zA-Z0-9.\\-]{0,5}";
    let texts: Vec<String> = samples(odd, PAIRS);
    let lines: String = texts.iter().map(|text| format!("{}\n", text.escape_unicode())).collect();
    let said = Ruby::here().judge(
        lines.as_bytes(),
        r#"File.foreach(ARGV[0]) do |line|
           text = line.scan(/\\u\{(\h+)\}/).map { |(code)| code.to_i(16) }.pack('U*')
           puts text == text.strip && !text.empty? && Gem::Version.correct?(text)
         end"#,
    );
    for (text, said) in texts.iter().zip(said.lines()) {
        // RubyGems ignores white space around a version, and accepts an empty one. In an index both would have a
        // meaning.
        assert_eq!(Version::parse(text).is_ok().to_string(), said, "{text:?}");
    }
    assert!(said.contains("true") && said.contains("false"));
}

#[test]
fn platforms_are_called_what_ruby_calls_them() {
    let names = "(x86_64|i[3-6]86|x86|x64|arm|arm64|aarch64|universal|powerpc|sparc)-\
                 (linux(-(musl|gnu|gnueabihf|eabi))?|darwin[0-9]{0,2}|mingw32|mingw-ucrt|mswin(32|64)(_[0-9]{2,3})?|\
                 freebsd[0-9]{0,2}|openbsd[0-9]\\.[0-9]|solaris2\\.[0-9]{1,2}|solaris10|cygwin|aix[0-9]?|hpux11|netbsdelf|\
                 somewhere)|java|jruby|mswin32|mswin64|dalvik[0-9]?|dotnet|linux|darwin|somewhere|ruby";
    let names: Vec<String> = samples(names, 1000);
    let said = Ruby::here().judge(
        names.join("\n").as_bytes(),
        "puts File.readlines(ARGV[0], chomp: true).map { |name| Gem::Platform.new(name).to_s }",
    );
    for (name, said) in names.iter().zip(said.lines()) {
        let ours = Platform::read(name).map_or_else(|| "ruby".to_owned(), |platform| platform.to_string());
        // RubyGems 3.3 ignores the GNU C library; later releases name it, as we do.
        assert!(
            ours == said || Platform::spellings(name).iter().any(|spelling| spelling == said),
            "{name}: {ours}, {said}"
        );
        assert!(ours == said || ours.contains("-gnu"), "{name}: {ours}, {said}");
    }
    assert_eq!(said.lines().count(), names.len());
}
