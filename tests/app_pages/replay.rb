# Has `writer.rb` write what the gems wrote: each row of the table of entries (ARGV[0]) with the same page, time and `Accept-Encoding`, into
# the memcached ARGV[1], each in a namespace of its own, its number. Compares the keys of `keys.rb` with the table ARGV[2], and prints their number.

require "active_support"
require "active_support/cache"
require "active_support/core_ext"
require "json"
require_relative "writer"

FORMS = { "1.1.0" => { "form" => 0 }, "1.3.6" => { "form" => 1 }, "1.6.0" => { "form" => 1, "elements" => 5 } }.freeze

def rows(file) = File.foreach(file).reject { |line| line.start_with?("#") }.map { |line| JSON.parse(line) }

# In the tables each character is a byte.
def bytes(text) = text.unpack("U*").pack("C*")

# What the application answered, by the entry: it has no other headers of the answer.
def answer(entry, body)
  status, headers, _, _, location = entry
  headers = { "Content-Type" => headers, "Location" => location }.compact unless headers.is_a?(Hash)
  [status, headers.except("ETag", "Content-Encoding"), [bytes(body)]]
end

def replay(row, number)
  entry = MessagePack.load([row["entry"]].pack("H*"))
  settings = { **FORMS.fetch(row["form"]), "at" => row["stored"], "namespace" => number.to_s }
  settings["gzip_at"] = entry[2].unpack1("@4V") if entry[2].to_s.b.start_with?("\x1f\x8b".b)
  settings.merge!("elements" => 6, "metadata" => entry[5], "level" => entry[4]) if entry[5].is_a?(Hash)
  store = ActiveSupport::Cache::MemCacheStore.new(ARGV[1], namespace: settings["namespace"])
  env = { "PATH_INFO" => "/lamps", "QUERY_STRING" => "page=1", "HTTP_ACCEPT_ENCODING" => row["accept"] }
  rendered = lambda do |request|
    page = request["pages.page"] = WrittenPage.new(request, store, settings)
    page.answer && abort("a page is there before it was written: #{row}")
    answer(entry, row["body"])
  end
  PageWriter.new(rendered).call(env)
end

rows(ARGV[0]).each_with_index { |row, number| replay(row, number) if FORMS[row["form"]] && row["entry"] }

SPACED = { "1/ruby34" => true, "1/ruby33" => false, "2" => nil, "0" => false }.freeze
compared = rows(ARGV[2]).select { |row| SPACED.key?(row["rule"]) }.each do |row|
  of = ->(version) { PageKey.of(row["rule"].to_i, bytes(row["path"]), bytes(row["query"]), version, row["coding"], spaced: SPACED[row["rule"]]) }
  abort "#{row}: #{of[nil]}, #{of[{}]}" unless [of[nil], of[{}]] == row.values_at("key", "tag")
end
print compared.size
