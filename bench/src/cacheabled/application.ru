# The application of row `cacheabled`, in Rails: one page, which costs what its path says, and may be answered from the application's own cache in
# memcached. The tests' writer writes and reads the entries as response_bank does.

require "action_controller/railtie"
require ENV.fetch("WRITER")

PAGE = File.read(ENV.fetch("PAGE"), encoding: "UTF-8").html_safe
STORE = ActiveSupport::Cache::MemCacheStore.new(ENV.fetch("MEMCACHED"))
SETTINGS = { "form" => 2, "elements" => 5 }.freeze

# The decoder needs room for this page alone.
Brotli.send(:remove_const, :LIMIT)
Brotli::LIMIT = 1 << 17

# How long this worker has been busy, in nanoseconds, in a file of its own.
class Busy
  def initialize(app) = @app = app

  def call(env)
    began = now
    @app.call(env).tap { file.pwrite([@sum = @sum.to_i + now - began].pack("Q"), 0) }
  end

  private

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :nanosecond)
  def file = @file ||= File.open("busy-#{Process.pid}", "w")
end

class PagesController < ActionController::Base
  include PageWriter::Controller

  # Processor time, in milliseconds.
  def costs
    ends = Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond) + params[:ms].to_f
    nil while Process.clock_gettime(Process::CLOCK_PROCESS_CPUTIME_ID, :float_millisecond) < ends
    render(html: PAGE)
  end

  # Waits for others, 20 ms on average: mostly less, and now and then much more.
  def waits
    sleep(-0.020 * Math.log(1 - rand))
    render(html: PAGE)
  end

  # From the application's own cache.
  def own = page(STORE, SETTINGS) { render(html: PAGE) }

  # For caches in front of it.
  def public
    response.headers["Cache-Control"] = "public, max-age=86400"
    render(html: PAGE)
  end
end

class Shop < Rails::Application
  config.eager_load = true
  config.secret_key_base = "x" * 64
  config.hosts.clear
  config.logger = Logger.new(nil)
  config.cache_classes = true
  config.middleware.insert_before(0, Rack::ContentLength)
  config.middleware.insert_before(0, Busy)
  config.middleware.insert_after(Rack::Head, PageWriter)
  routes.append do
    get("/costs/:ms", to: "pages#costs")
    get("/waits/*any", to: "pages#waits")
    get("/own/*any", to: "pages#own")
    get("/public", to: "pages#public")
  end
end

Shop.initialize!
run(Shop)
