# A small application of Rails without a database, whose pages `writer.rb` writes. Each request reads its settings again: FOLDER/settings.json has
# those of the writer, the store (`memcached` or `redis`, `namespace`) and the text of the pages. FOLDER/requests.jsonl gets a line for each request.

require "action_controller/railtie"
require "json"
require_relative "writer"

FOLDER = ENV.fetch("APP_FOLDER")

module Present
  STORES = {}

  def self.settings = JSON.parse(File.read(File.join(FOLDER, "settings.json")))

  def self.store(settings)
    STORES[settings.slice("memcached", "redis", "namespace", "socket_timeout", "down_retry_delay")] ||= begin
      more = { namespace: settings["namespace"] }.compact
      if (url = settings["redis"])
        ActiveSupport::Cache::RedisCacheStore.new(url: url, **more)
      else
        # A dead server is tried again at once, and waited for as long as the settings say.
        more = { **more, down_retry_delay: settings.fetch("down_retry_delay", 0), socket_timeout: settings.fetch("socket_timeout", 30) }
        ActiveSupport::Cache::MemCacheStore.new(*settings.fetch("memcached"), **more)
      end
    end
  end
end

# Notes what reaches the application.
class Noted
  def initialize(app) = @app = app

  def call(env)
    reply = @app.call(env)
    line = { method: env["REQUEST_METHOD"], target: env["REQUEST_URI"], cookie: env["HTTP_COOKIE"], status: reply[0], cache: reply[1]["X-Cache"] }
    File.open(File.join(FOLDER, "requests.jsonl"), "a") { |file| file.syswrite(JSON.generate(line) << "\n") }
    reply
  end
end

class PagesController < ActionController::Base
  include PageWriter::Controller

  def show
    settings = Present.settings
    page(Present.store(settings), settings) { rendered(settings) }
  end

  private

  def rendered(settings)
    case request.path
    when "/moved" then redirect_to("/there", status: 301)
    when "/gone" then render(html: "<p>Nothing is here: Straße, 日本.</p>".html_safe, status: 404)
    when "/empty" then render(plain: "")
    when "/broken" then render(plain: "It failed.", status: 500)
    when "/noise" then render(plain: Random.new(1).bytes(settings.fetch("bytes")).unpack1("H*"))
    else
      headers if request.path == "/headers"
      render(html: text(settings).html_safe)
    end
  end

  # Headers that are stored, and others.
  def headers
    stored = { "Last-Modified" => "Sun, 01 Nov 2026 08:00:00 GMT", "Expires" => "Sun, 01 Nov 2026 09:00:00 GMT", "Link" => "</a.css>; rel=preload; as=style",
               "Surrogate-Keys" => "red blue", "Cache-Tags" => "green,blue", "Speculation-Rules" => '"/rules.json"' }
    response.headers.merge!(stored).merge!("X-Mine" => "1", "Set-Cookie" => "mine=1")
  end

  def text(settings)
    lines = (1..settings.fetch("lines", 40)).map { |line| "<p>#{line}: #{request.path} is a page of the shop, für alle.</p>\n" }
    "<!doctype html>\n<title>#{settings.fetch("text", "first")}</title>\n#{ERB::Util.html_escape(request.fullpath)}\n#{lines.join}"
  end
end

class Shop < Rails::Application
  config.eager_load = false
  config.secret_key_base = "x" * 64
  config.hosts.clear
  config.logger = Logger.new($stderr, level: :warn)
  config.middleware.insert_before(0, Noted)
  config.middleware.insert_after(Rack::Head, PageWriter)
  routes.append do
    match("/*path", to: "pages#show", via: :all, format: false)
    root(to: "pages#show")
  end
end

Shop.initialize!
run(Shop)
