# Builds .gem files out of what Debian's packages have installed, with RubyGems' own code and with the gemspecs that
# came along: ruby debian.rb FOLDER NAME... writes them into FOLDER and names each.
#
# Debian keeps a gem's library beside its gemspec or among those of Ruby itself, and what was compiled apart from both.
# A compiled gem becomes two for this platform, and one without its compiled part for each of two others.
require "bundler"
require "fileutils"
require "rubygems/package"

INSTALLED = ["/usr/share/rubygems-integration/all", *Dir["/usr/lib/*/rubygems-integration/*"]].freeze
RUBY = "/usr/lib/ruby/vendor_ruby".freeze
# This platform, and its name in gems that are built only for the GNU C library.
NATIVE = Gem::Platform.local.to_s
GNU = "#{NATIVE}-gnu".freeze
ELSEWHERE = %w[java arm64-darwin].freeze
# Bundler 2.3.27 on RubyGems before 3.3.22, which Debian 12 has since November 2026, chooses the gem for the GNU C library
# and then says that RubyGems is too old for it; Bundler 2.3.15 chooses the plain one. No server can help that.
MISTAKEN = Gem.rubygems_version < Gem::Version.new("3.3.22") && Gem::Version.new(Bundler::VERSION) > Gem::Version.new("2.3.15")

# Copies what of the gem is installed in `root`, and returns its files.
def gather(spec, root, into)
  FileUtils.mkdir_p(into)
  FileUtils.cp_r("#{root}/gems/#{spec.full_name}/.", into) if File.directory?("#{root}/gems/#{spec.full_name}")
  (spec.files.grep(%r{\Alib/}) - Dir.glob("lib/**/*", base: into)).each do |file|
    FileUtils.mkdir_p(File.dirname("#{into}/#{file}"))
    FileUtils.cp("#{RUBY}/#{file.delete_prefix('lib/')}", "#{into}/#{file}")
  end
  Dir.glob("{VERSION,{bin,exe,lib}/**/*}", base: into).select { |file| File.file?("#{into}/#{file}") }
end

def build(spec, platform, files, folder, from)
  spec = spec.dup
  spec.platform = platform
  spec.files = files
  spec.executables = spec.executables.select { |name| files.include?("#{spec.bindir}/#{name}") }
  spec.extensions = []
  built = Dir.chdir(from) { Gem::Package.build(spec, true) }
  FileUtils.mv("#{from}/#{built}", "#{folder}/#{spec.name}-#{spec.version}-#{platform}.gem")
  puts "#{folder}/#{spec.name}-#{spec.version}-#{platform}.gem"
end

Gem::DefaultUserInteraction.ui = Gem::SilentUI.new
folder, *names = ARGV
names.each do |name|
  root = INSTALLED.find { |place| Dir["#{place}/specifications/#{name}-[0-9]*.gemspec"].any? }
  abort "#{name} is not installed" unless root
  spec = Gem::Specification.load(Dir["#{root}/specifications/#{name}-[0-9]*.gemspec"].first)
  from = "#{folder}/#{name}"
  files = gather(spec, root, from)
  compiled = "#{root}/extensions"
  next build(spec, "ruby", files, folder, from) unless File.directory?(compiled) && spec.extensions.any?

  ELSEWHERE.each { |platform| build(spec, platform, files, folder, from) }
  parts = Dir["#{compiled}/*/*/#{spec.full_name}/**/*.so"]
  parts.each do |part|
    file = "lib/#{part.split("/#{spec.full_name}/").last}"
    FileUtils.mkdir_p(File.dirname("#{from}/#{file}"))
    FileUtils.cp(part, "#{from}/#{file}")
    files += [file]
  end
  build(spec, NATIVE, files, folder, from)
  next if MISTAKEN

  # RubyGems before 3.3.22 reads that name as the plain one, so publishers of such gems exclude it.
  spec.required_rubygems_version = ">= 3.3.22"
  build(spec, GNU, files, folder, from)
end
