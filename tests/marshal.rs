//! Ruby reads the Marshal data that we write, in every form.

use crate::world::{Client, FIRST, Ruby, World};
use format::gem::specs;

#[test]
fn ruby_reads_the_elements_of_the_older_index_wherever_they_stand() {
    let elements = [("lamp", "1.0", "ruby"), ("oil-x", "2.0.0.rc1", "x86_64-linux-gnu"), ("a", "0.10", "java")];
    let mut file = specs::opening(200 * elements.len());
    for round in 0..200 {
        for (at, (name, number, platform)) in elements.into_iter().enumerate() {
            specs::tuple(&mut file, name, number, platform, round + at == 0);
        }
    }
    let read = Ruby::new().judge(
        &file,
        "all = Marshal.load(File.binread(ARGV[0]))
         abort 'not strings' unless all.flatten(1).all? { |part| Gem::Version === part || part.encoding == Encoding::UTF_8 }
         all.uniq.each { |name, version, platform| puts \"#{name} #{version.class} #{version} #{platform}\" }
         puts all.size, Gem::NameTuple.from_list(all).map(&:full_name).uniq.join(' ')",
    );
    assert_eq!(
        read,
        "lamp Gem::Version 1.0 ruby\noil-x Gem::Version 2.0.0.rc1 x86_64-linux-gnu\na Gem::Version 0.10 java\n600\n\
         lamp-1.0 oil-x-2.0.0.rc1-x86_64-linux-gnu a-0.10-java\n"
    );
}

/// Gems of all sorts, written by RubyGems itself.
const BUILT: &str = r#"
  require 'rubygems/package'
  def built(name, version)
    spec = Gem::Specification.new(name, version) do |s|
      s.summary, s.authors, s.files, s.date = 'One of all sorts', ['Somebody'], [], '2024-02-29'
      yield s
    end
    Gem::Package.build(spec, true)
  end
"#;

/// With platforms and dependencies. A RubyGems that does not know a platform, or spells it another way, builds other files.
const ALL_SORTS: &str = r#"
  built('plain', '1.0') {}
  built('early', '2.0.0.rc1') { |s| s.add_dependency 'plain', '>= 0.a' }
  built('java-only', '1.2.3') { |s| s.platform = 'java' }
  built('musl', '0.1') { |s| s.platform = Gem::Platform.new('x86_64-linux-musl') }
  built('windows', '0.1') { |s| s.platform = 'x64-mingw-ucrt' }
  built('old-mac', '0.1') { |s| s.platform = 'universal-darwin9' }
  built('full', '10.20.30.40') do |s|
    s.authors = ['Zoë Ångström', '作者', 'Ω']
    s.email = %w[zoe@example.org other@example.org]
    s.description = "Mehrere
Zeilen: “größer” als 1 kB.
" + 'ü' * 1000
    s.homepage = 'https://example.org/full'
    s.licenses = %w[MIT Apache-2.0]
    s.metadata = { 'source_code_uri' => 'https://example.org/src', 'schlüssel' => 'wért', 'empty' => '' }
    s.required_ruby_version = ['>= 2.7', '< 4']
    s.required_rubygems_version = '>= 1.3.1'
    s.date = '1999-12-31'
    s.add_dependency 'plain', '~> 1.0', '>= 1.0.2', '!= 1.0.3'
    s.add_dependency 'other', '= 1.0.0-beta'
    s.add_development_dependency 'rake', '>= 12'
    s.executables, s.extensions = [], []
  end
"#;

/// Whose texts are one text, a list or missing.
const TEXTS: &str = r#"
  built('one-mail', '1') { |s| s.email = 'one@example.org'; s.license = 'MIT' }
  built('one-mail-in-a-list', '1') { |s| s.email = ['one@example.org']; s.licenses = ['MIT'] }
  built('empty-mail', '1') { |s| s.email = ''; s.description = ''; s.homepage = '' }
  built('empty-list-of-mails', '1') { |s| s.email = []; s.licenses = [] }
  built('no-mail', '1') { |s| s.email = nil; s.licenses = nil; s.description = nil; s.homepage = nil }
  built('one-author', '1') { |s| s.author = 'Somebody' }
"#;

crate::world::with_each_client!([texts_and_lists_stay_what_they_are]);

fn texts_and_lists_stay_what_they_are(client: Client) {
    reads_as_it_was_built(&Ruby::with(client), &format!("{BUILT}{TEXTS}"), 6);
}

#[test]
fn ruby_reads_the_gemspec_of_every_sort_of_gem_as_it_was_built() {
    reads_as_it_was_built(&Ruby::here(), &format!("{BUILT}{ALL_SORTS}"), 7);
}

/// Builds gems, publishes them, and has Ruby compare their gemspecs with the server's.
fn reads_as_it_was_built(desk: &Ruby, script: &str, count: usize) {
    let world = World::start();
    desk.judge(b"", script);
    let mut judged = 0;
    for file in std::fs::read_dir(desk.home()).unwrap() {
        let file = file.unwrap().path();
        if file.extension().is_none_or(|ending| ending != "gem") {
            continue;
        }
        let bytes = std::fs::read(&file).unwrap();
        world.admin().push_on(&mut world.admin().connect().unwrap(), FIRST, &bytes).unwrap().expect(200);
        let full_name = file.file_stem().unwrap().to_str().unwrap();
        let spec = world.anon().get(&format!("/repository/{FIRST}/quick/Marshal.4.8/{full_name}.gemspec.rz"));
        std::fs::write(file.with_extension("gemspec.rz"), spec.expect(200).body).unwrap();
        judged += 1;
    }
    let said = desk.judge(
        b"",
        r##"
         require 'rubygems/package'
         # What is in the file: RubyGems 3.3 loses the licences when it makes a specification of it.
         class << Gem::Specification
           alias read _load
           def _load(fields)
             read($fields = fields)
           end
         end
         Dir['*.gem'].sort.each do |file|
           built = Gem::Package.new(file).spec
           read = Marshal.load(Gem::Util.inflate(File.binread(file.sub(/gem$/, 'gemspec.rz'))))
           Marshal.load(built._dump(-1)).zip(Marshal.load($fields)).each_with_index do |(one, other), at|
             abort "#{file}: field #{at} is #{other.inspect}, not #{one.inspect}" unless one == other
           end
           abort "#{file}: #{read.to_ruby}" unless read.full_name == built.full_name && read.files.empty?
           puts read.full_name
         end"##,
    );
    assert_eq!(said.lines().count(), judged, "{said}");
    assert_eq!(judged, count);
}
