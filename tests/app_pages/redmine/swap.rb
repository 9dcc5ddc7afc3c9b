# Writes the body of a page under the keys of others, with their tags: `ruby swap.rb PORT KEYS`, a fault that the judge must find.

require "dalli"

client = Dalli::Client.new("127.0.0.1:#{ARGV[0]}")
keys = Dir["#{ARGV[1]}/*"].flat_map { |file| File.readlines(file, chomp: true) }.uniq
# Without a version, a page has its key as tag.
from = keys.find { |key| client.get(key, raw: true)&.include?(key) } or abort("error: no page is stored")
keys -= [from]
entry = client.get(from, raw: true)
done = keys.count { |key| client.get(key, raw: true) && client.set(key, entry.gsub(from, key), 0, raw: true) }
puts "#{done} pages have the body of another now"
