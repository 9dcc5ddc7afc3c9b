# Makes Redmine write the pages of anonymous visitors as response_bank does, with `writer.rb`: config/additional_environment.rb requires it.
#
# Nothing stale can be served, because five rules hold:
# - A page is rendered in one snapshot of the database, without a session, in the language of the settings, and without times that pass.
# - Nearly all pages have no version. A page is stored only if its project is unchanged since it was rendered, under a shared lock. A change takes
#   that lock for itself, removes all pages of its project before it commits, and is refused if memcached does not answer.
# - Only requests that accept everything fill pages: their key has no `Accept`, and Redmine would store JSON for browsers.
# - The tag of such a page is always the same, so that a browser that validated it would keep an old one: they are `no-store`.
# - The pages of VERSIONED have the revision of their project as version, are never removed, and may be TOLERANCE seconds old.

require "digest"
require "json"
require_relative "writer"

module Pages
  FOLDER = ENV.fetch("PAGES_FOLDER")
  TOLERANCE = Integer(ENV.fetch("PAGES_TOLERANCE"))
  # The release of the application: another layout, and other keys and elements, as after an update of the gem.
  RELEASE = Integer(File.read("#{FOLDER}/release.next"))
  SETTINGS = { "form" => RELEASE.odd? ? 1 : 2, "elements" => RELEASE.odd? ? 4 : 5, "tolerance" => TOLERANCE }.freeze
  PUBLIC = %r{\A/(?:(?:projects|issues|news|versions)(?:[/.]|\z)|\z)}
  VERSIONED = %r{\A/projects/([^/.]+)(?:/(?:issues|roadmap|news))?\z}
  SERVER = ENV.fetch("PAGES_SERVER")

  def self.store = @store ||= ActiveSupport::Cache::MemCacheStore.new(SERVER, socket_timeout: 0.5, down_retry_delay: 1)

  # Errors of this one reach the caller.
  def self.client = @client ||= Dalli::Client.new(SERVER, socket_timeout: 0.5, down_retry_delay: 0)

  # A request of a visitor who has not signed in, for a page that is the same for everybody.
  def self.public?(env)
    %w[GET HEAD].include?(env["REQUEST_METHOD"]) && PUBLIC.match?(env["PATH_INFO"]) && !env["HTTP_AUTHORIZATION"] &&
      !env["HTTP_X_REDMINE_API_KEY"] && (env["HTTP_ACCEPT"] || "*/*").include?("*/*") && env["HTTP_X_REQUESTED_WITH"].nil? && !/(?:\A|; *)(?:signed_in|autologin)=/.match?(env["HTTP_COOKIE"].to_s)
  end

  def self.locked(mode) = File.open("#{FOLDER}/lock", "a") { |file| file.flock(mode) && yield }
  def self.keys_of(scope) = "#{FOLDER}/keys/#{scope}"
  def self.note(name, line) = File.open("#{FOLDER}/#{name}", "a") { |file| file.syswrite("#{line}\n") }

  # The number of changes of a project; 0: of all.
  # Rails would answer the same question from its cache of the request.
  def self.revision(project)
    ActiveRecord::Base.uncached { Integer(ActiveRecord::Base.connection.select_value("SELECT revision FROM page_revisions WHERE project = #{Integer(project)}") || 0) }
  end

  def self.changed(project)
    ActiveRecord::Base.connection.execute("INSERT INTO page_revisions VALUES (#{Integer(project)}, 1) ON CONFLICT (project) DO UPDATE SET revision = revision + 1")
  end

  def self.snapshot(&block)
    Thread.current[:pages_snapshot] = true
    ActiveRecord::Base.transaction(&block)
  ensure
    Thread.current[:pages_snapshot] = nil
  end

  # Transactions of SQLite that write wait for each other from their beginning. Otherwise a transaction that has read before it writes fails.
  module Immediate
    def begin_db_transaction = Thread.current[:pages_snapshot] ? super : @connection.transaction(:immediate)
  end

  # Removes the pages of these projects. The lock is the caller's.
  def self.forget(scopes)
    return if File.exist?("#{FOLDER}/keep")
    keys = scopes.flat_map { |scope| File.exist?(keys_of(scope)) ? File.readlines(keys_of(scope), chomp: true) : [] }
    client.get("cacheable:answers")
    keys.uniq.each { |key| client.delete(key) }
  end

  # The workers of this release serve now: pages of the one before are gone, and its workers store no more.
  def self.begin_release
    locked(File::LOCK_EX) do
      next if Integer(File.read("#{FOLDER}/release")) == RELEASE
      forget(Dir.children("#{FOLDER}/keys"))
      File.write("#{FOLDER}/release", RELEASE)
    end
  rescue Dalli::DalliError
    sleep(0.2)
    retry
  end

  # The store of one request.
  class Store
    attr_writer :scope, :revision

    def read(...) = Pages.store.read(...)

    def write(key, value, **options)
      return Pages.store.write(key, value, **options) if key.end_with?(":lock")
      Pages.locked(File::LOCK_SH) do
        next unless @revision && Pages.revision(@scope) == @revision && Integer(File.read("#{FOLDER}/release")) == RELEASE
        File.open(Pages.keys_of(@scope), "a") { |file| file.syswrite("#{key}\n") }
        Pages.store.write(key, value, **options)
      end
    end
  end

  # Public pages have no session, whatever the cookie of the visitor holds. The answer tells whether the request reached the application.
  class Visitors
    def initialize(app) = @app = app

    def call(env)
      env["pages.public"] = Pages.public?(env)
      env["HTTP_COOKIE"] = env["HTTP_COOKIE"].to_s.gsub(/_redmine_session[^;]*/, "") if env["pages.public"]
      Pages.note("reached", env["REQUEST_METHOD"])
      status, headers, body = @app.call(env)
      [status, headers.merge!("X-Reached" => Process.pid.to_s), body]
    end
  end

  # For `ApplicationController`.
  module Controller
    include PageWriter::Controller

    def protect_against_forgery? = request.env["pages.public"] ? false : super

    def start_user_session(user)
      cookies[:signed_in] = { value: "1", path: "/", same_site: :lax, httponly: true }
      super
    end

    def logged_user=(user)
      cookies.delete(:signed_in, path: "/") unless user
      super
    end

    private

    def pages
      return public_page { yield } if request.env["pages.public"]
      return yield if request.get? || request.head? || is_a?(AccountController)
      change { yield }
    end

    def public_page
      request.session_options[:skip] = true
      Pages.snapshot do
        next rendered(nil) { yield } if request.headers["X-Direct"]
        store = Store.new
        page(store, SETTINGS.merge("version" => version)) { rendered(store) { yield } }
      end
    end

    # {}: none.
    def version
      name = VERSIONED.match(request.env["PATH_INFO"]) or return {}
      project = Project.where(identifier: name[1]).pick(:id) or return {}
      { "project" => Pages.revision(project), "release" => RELEASE }
    end

    # Notes each body with the revision of which it was made.
    def rendered(store)
      yield
      scope = @project&.id || 0
      revision = Pages.revision(scope)
      versioned = VERSIONED.match?(request.env["PATH_INFO"]) && @project
      response.headers["Cache-Control"] = "no-store" unless versioned
      facts = { target: request.env["REQUEST_URI"].delete_suffix("?"), status: response.status, sha: Digest::SHA256.hexdigest(response.body),
                type: response.headers["Content-Type"], scope: scope, revision: revision, release: RELEASE, versioned: !!versioned }
      return response.headers["X-Rendered"] = JSON.generate(facts) unless store
      Pages.note("renderings", JSON.generate(facts))
      store.scope, store.revision = scope, revision
    end

    def change
      Pages.locked(File::LOCK_EX) do
        scopes = [0]
        ActiveRecord::Base.transaction do
          yield
          next unless @project && response.status < 300
          scopes << @project.id
          scopes.each { |scope| Pages.changed(scope) }
          response.headers["X-Changed"] = JSON.generate(scopes.to_h { |scope| [scope, Pages.revision(scope)] })
          Pages.forget(scopes)
        end
        # A memcached that was stopped may have stored late a page whose writer had given up.
        Pages.forget(scopes)
        scopes.each { |scope| FileUtils.rm_f(Pages.keys_of(scope)) } unless File.exist?("#{FOLDER}/keep")
      end
    rescue Dalli::DalliError
      self.response_body = nil
      response.headers.delete("X-Changed")
      head(:service_unavailable)
    end
  end

  # The same bytes each time: neither `3 minutes ago` nor random names of forms.
  module Steady
    def time_tag(time) = content_tag("abbr", format_time(time))
    def distance_of_time_in_words(_from, to = 0, **) = format_time(to)
    def form_tag_html(options) = super(options.merge("name" => options["name"] || "#{options["id"] || "form"}-0"))
  end

  # In each page of HTML: where it is from.
  def self.mark(controller)
    project = controller.instance_variable_get(:@project)&.id || 0
    "<!-- project #{project} revision #{revision(project)} release #{RELEASE} -->".html_safe
  end
end

RedmineApp::Application.configure do
  config.middleware.insert_before(0, Pages::Visitors)
  config.middleware.insert_after(Rack::Head, PageWriter)
  config.to_prepare do
    ApplicationController.prepend(Pages::Controller)
    ApplicationController.prepend_around_action(:pages)
    ApplicationHelper.prepend(Pages::Steady)
    ActiveRecord::ConnectionAdapters::SQLite3Adapter.prepend(Pages::Immediate)
    Class.new(Redmine::Hook::ViewListener) do
      def view_layouts_base_body_bottom(context = {}) = Pages.mark(context[:controller])
    end
  end
end
