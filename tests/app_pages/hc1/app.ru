# An application whose pages the middleware of docs/hc1.md (hc1.rb) writes. APP_FOLDER has `pages.json`, what it answers by path: `status`, `headers`,
# `body`, or `bodies` by Accept-Language; and `requests.jsonl`, a line for each request. While a file `held` is there, refills wait.

require "json"
require_relative "hc1"

FOLDER = ENV.fetch("APP_FOLDER")

counters = ENV.fetch("COUNTERS").split
use HC1, Dalli::Client.new(ENV.fetch("MEMCACHED")), counters: counters

run(lambda do |env|
  pages = JSON.parse(File.read(File.join(FOLDER, "pages.json")))
  page = pages.fetch(env["PATH_INFO"], { "status" => 404 })
  seen = { target: env["REQUEST_URI"], method: env["REQUEST_METHOD"], refill: env["HTTP_DAYLIGHT_REFILL"], cookie: env["HTTP_COOKIE"],
           language: env["HTTP_ACCEPT_LANGUAGE"] }
  File.open(File.join(FOLDER, "requests.jsonl"), "a") { |file| file.syswrite(JSON.generate(seen) << "\n") }
  sleep 0.005 while seen[:refill] && File.exist?(File.join(FOLDER, "held"))
  body = page["bodies"]&.fetch(env["HTTP_ACCEPT_LANGUAGE"].to_s) || page["body"].to_s
  [page.fetch("status", 200), page.fetch("headers", {}), [body]]
end)
