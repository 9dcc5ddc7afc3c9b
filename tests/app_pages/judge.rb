# Ruby's judgement of pages, by the writer's own keys, with Dalli, redis and MessagePack. Its argument is JSON, the settings are the application's:
# {"record": [targets], "accepts": [values]} asks the application itself twice, and keeps its answer from its own page in FOLDER/recorded.
# {"compare": "HOST:PORT"} compares the same requests to the front with that answer and with the entry in the store.
# {"keys": [targets], "accepts": value} prints the key of each page and the tag of its version.

require "json"
require "net/http"
require "socket"
require_relative "writer"

SETTINGS = JSON.parse(File.read("settings.json"))

# One reply, with its body unchanged.
def fetch(socket, target, accepts)
  request = Net::HTTP::Get.new(target, { "Host" => "shop.example", "Connection" => "close", "User-Agent" => "judge" })
  request.delete("Accept")
  accepts ? request["Accept-Encoding"] = accepts : request.delete("Accept-Encoding")
  io = Net::BufferedIO.new(socket)
  request.exec(io, "1.1", target)
  reply = Net::HTTPResponse.read_new(io)
  reply.reading_body(io, true) { reply.body }
  { status: reply.code.to_i, headers: reply.to_hash.transform_values { |lines| lines.join(", ") }, body: reply.body.to_s.b }
ensure
  socket.close
end

# Whether a client with this `Accept-Encoding` takes the coding (RFC 9110, 12.5.3).
def takes?(accepts, coding)
  weights = accepts.to_s.split(",").to_h do |part|
    name, *parameters = part.split(";").map(&:strip)
    [name.downcase, parameters.find { |parameter| parameter.start_with?("q=") }&.delete_prefix("q=")&.to_f || 1.0]
  end
  weights.fetch(coding, weights.fetch("*", 0.0)).positive?
end

def plain(reply)
  coding = reply[:headers]["content-encoding"]
  coding ? Coding.decode(coding, reply[:body]).b : reply[:body]
end

def stored(key)
  key = [SETTINGS["namespace"], key].compact.join(":")
  if SETTINGS["redis"]
    require "redis"
    ($redis ||= Redis.new(url: SETTINGS["redis"])).get(key)
  else
    require "dalli"
    ($dalli ||= Dalli::Client.new(SETTINGS["memcached"])).get(key, raw: true)
  end
end

def page_of(target, accepts)
  path, query = target.split("?", 2)
  WrittenPage.new({ "PATH_INFO" => path, "QUERY_STRING" => query.to_s, "HTTP_ACCEPT_ENCODING" => accepts }, nil, SETTINGS)
end

# The status, headers and coded body that are in the store.
def entry(page)
  status, headers, body, _, location = MessagePack.load(stored(page.key) || abort("#{page.key} is not in the store"))
  headers = { "Content-Type" => headers, "Content-Encoding" => "gzip", "Location" => location }.compact if SETTINGS["form"].zero?
  [status, headers.transform_keys(&:downcase), body.to_s.b]
end

def compare(served, told, target, accepts)
  status, headers, body = entry(page_of(target, accepts))
  coding = headers.delete("content-encoding")
  kept = coding if takes?(accepts, coding.to_s)
  expected = { "status" => [status, served[:status]], "status of the application" => [told[:status], served[:status]],
               "coding" => [kept, served[:headers]["content-encoding"]],
               "bytes" => [kept || coding.nil? ? body : Coding.decode(coding, body).b, served[:body]],
               "text of the application" => [plain(told), plain(served)],
               "length" => [served[:body].bytesize.to_s, served[:headers]["content-length"]],
               "varies" => [!coding.nil?, served[:headers]["vary"].to_s.include?("Accept-Encoding")],
               "source" => [true, served[:headers]["cache-status"].to_s.include?("; hit; detail=page")] }
  headers.each { |name, value| expected[name] = [value, served[:headers][name]] }
  headers.each { |name, value| expected["#{name} of the application"] = [value, told[:headers][name]] }
  wrong = expected.reject { |_, (wanted, found)| wanted == found }
  abort "#{target} for #{accepts.inspect}: #{wrong.inspect[0, 2000]}" unless wrong.empty?
end

case JSON.parse(ARGV.fetch(0), symbolize_names: true)
in { record:, accepts: }
  recorded = record.product(accepts).to_h do |target, accept|
    [[target, accept], 2.times.map { fetch(UNIXSocket.new("socket"), target, accept) }.last]
  end
  untaken = recorded.reject { |_, reply| reply[:headers]["x-cache"] == "hit, server" }
  abort "not the application's own page: #{untaken.keys}" unless untaken.empty?
  File.binwrite("recorded", Marshal.dump(recorded))
in { compare: }
  recorded = Marshal.load(File.binread("recorded"))
  recorded.each { |(target, accepts), told| compare(fetch(TCPSocket.new(*compare.split(":")), target, accepts), told, target, accepts) }
  print recorded.size
in { keys:, accepts: }
  print JSON.generate(keys.map { |target| page_of(target, accepts) }.map { |page| [page.key, page.tag] })
end
