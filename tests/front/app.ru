# An application for the tests of the front: it says when it works and for how long, and waits where a test has not opened a gate.
# APP_FOLDER: a gate is open once its file is in there; APP_LOG: a line of JSON when a request begins and when its body was taken.

require "digest"
require "json"

FOLDER = ENV.fetch("APP_FOLDER")
LOG = ENV.fetch("APP_LOG")

module Watch
  def self.now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  def self.note(what) = File.open(LOG, "a") { |file| file.syswrite(JSON.generate(what) << "\n") }
  def self.pass(gate) = (sleep 0.005 until File.exist?(File.join(FOLDER, gate)))
end

# The server asks for the pieces, and closes the body when it has sent the last of them: then its worker is free.
class Noted
  def initialize(pieces, work) = (@pieces, @work = pieces, work)
  def each(&) = @pieces.each(&)
  def close = Watch.note(@work.merge(closed: Watch.now))
end

def pieces(bytes) = Enumerator.new do |out|
  full, rest = bytes.divmod(65_536)
  full.times { out << "x" * 65_536 }
  out << "x" * rest if rest.positive?
end

def answer(request)
  query = request.params
  headers = { "Content-Type" => "text/plain" }
  headers["Cache-Control"] = query["control"] if query["control"]
  case request.path_info
  when "/page"
    bytes = Integer(query.fetch("bytes"))
    [200, headers.merge("Content-Length" => bytes.to_s), pieces(bytes)]
  when "/upload" then [200, headers, [Digest::SHA256.hexdigest(request.body.read)]]
  when "/pid" then [200, headers, [Process.ppid.to_s]]
  when %r{\A/gate/(\w+)\z} then Watch.pass($1) || [200, headers, ["passed"]]
  when %r{\A/open/(\w+)\z} then File.write(File.join(FOLDER, $1), "") && [200, headers, ["opened"]]
  when "/sign-in"
    [302, headers.merge("Set-Cookie" => "session=#{query.fetch("user")}; Path=/; HttpOnly", "Location" => "/who"), []]
  when "/who" then [200, headers, ["this is #{request.cookies["session"] || "nobody"}"]]
  when %r{\A/events/(\w+)\z}
    gate = $1
    events = Enumerator.new { |out| (out << "data: first\n\n") && Watch.pass(gate) || out << "data: second\n\n" }
    [200, headers.merge("Content-Type" => "text/event-stream; charset=utf-8"), events]
  when "/timing" then [200, headers.merge("Server-Timing" => "db;dur=12.5, view;dur=3"), ["timed"]]
  when "/file" then [200, headers.merge("X-Sendfile" => query.fetch("path")), []]
  when "/headers"
    seen = request.env.select { |name, _| name.start_with?("HTTP_") }
    [200, headers.merge("Content-Type" => "application/json"), [JSON.generate(seen)]]
  when "/live"
    [200, headers.merge("Content-Type" => "text/html"), [File.read(File.join(FOLDER, "live.html"))]]
  else [404, headers, ["nothing is at #{request.path_info}"]]
  end
end

run(lambda do |env|
  request = Rack::Request.new(env)
  work = { path: request.fullpath, pid: Process.pid, began: Watch.now }
  Watch.note(work)
  status, headers, body = answer(request)
  [status, headers, Noted.new(body, work.merge(called: Watch.now))]
end)
