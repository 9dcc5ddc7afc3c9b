//! What Ruby makes of the Marshal that we write: it is the judge of every form.

use crate::world::Ruby;
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
