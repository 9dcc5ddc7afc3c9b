# Writes the pages of an application of Rails into memcached or Redis as the gem response_bank and its ancestor cacheable do, and answers from
# them as these do: their keys, entries, locks and tolerances, in code of our own. Only their default key data is known.

require "fiddle"
require "msgpack"
require "zlib"
require_relative "keys"

# Brotli of libbrotli, which Debian's Ruby has no gem for.
module Brotli
  ENCODER, DECODER = %w[enc dec].map { |half| Fiddle.dlopen("libbrotli#{half}.so.1") }
  WORD, POINTER = Fiddle::TYPE_SIZE_T, Fiddle::TYPE_VOIDP
  COMPRESS = Fiddle::Function.new(ENCODER["BrotliEncoderCompress"], [Fiddle::TYPE_INT] * 3 + [WORD, POINTER, POINTER, POINTER], Fiddle::TYPE_INT)
  DECOMPRESS = Fiddle::Function.new(DECODER["BrotliDecoderDecompress"], [WORD, POINTER, POINTER, POINTER], Fiddle::TYPE_INT)
  TEXT, WINDOW, LIMIT = 1, 22, 16 << 20

  def self.compress(text, quality) = filled(text.bytesize + 1024) { |size, out| COMPRESS.call(quality, WINDOW, TEXT, text.bytesize, text, size, out) }
  def self.decompress(bytes) = filled(LIMIT) { |size, out| DECOMPRESS.call(bytes.bytesize, bytes, size, out) }

  def self.filled(most)
    size, out = [most].pack("J"), "\0".b * most
    raise "libbrotli cannot do it" unless yield(size, out) == 1
    out.byteslice(0, size.unpack1("J"))
  end
  private_class_method :filled
end

# Codings of stored bodies, and the choice of one.
module Coding
  LEVELS = { "gzip" => 9, "br" => 7 }.freeze

  # The coding in which the page of a client with this `Accept-Encoding` is stored.
  def self.of(accepts) = accepts.to_s.include?("br") ? "br" : %w[gzip].find { |name| accepts.to_s.include?(name) } || "br"

  # `at`: the moment that gzip writes into its head, in seconds since 1970. `level`: nil is the default of zlib.
  def self.encode(name, text, at, level = LEVELS[name])
    return Brotli.compress(text, level) if name == "br"
    bytes = Zlib.gzip(text, level: level)
    bytes[4, 4] = [at].pack("V")
    bytes
  end

  def self.decode(name, bytes) = name == "br" ? Brotli.decompress(bytes) : Zlib.gunzip(bytes)
end

# The page of one request. Settings: `form` (0, 1 or 2), `elements` (4 to 6), `metadata`, `version`, `tolerance`, `at` (the time, in seconds
# since 1970; the clock's without it) and `gzip_at` (the one that gzip writes), `expires`, `level` (the level that an entry names).
class WrittenPage
  KEPT = %w[Location Content-Type ETag Content-Encoding Last-Modified Cache-Control Expires Link Surrogate-Keys Cache-Tags Speculation-Rules].freeze
  STORED = [200, 301, 404].freeze

  attr_accessor :use
  attr_reader :tag, :key, :coding

  def initialize(env, store, settings)
    @env, @store, @settings = env, store, settings
    @form, version = settings.fetch("form"), settings.fetch("version", {})
    @coding = @form.zero? ? "gzip" : Coding.of(env["HTTP_ACCEPT_ENCODING"])
    @key, @tag = [nil, version].map { |data| PageKey.of(@form, env["PATH_INFO"], env["QUERY_STRING"], data, @coding) }
  end

  def now = @settings["at"] || Time.now.to_i

  # What the application answers without rendering: [304], a status with headers and body, or nil.
  def answer
    return (@use = "hit, client") && [304, {}, nil] if known?(@env["HTTP_IF_NONE_MATCH"])
    found = @form.zero? ? versioned : newest
    @use = found ? "hit, server" : "miss"
    found && opened(found)
  end

  # Stores a reply that was rendered. Returns its body as the client gets it.
  def store(status, headers, body)
    body = body.each.to_a.join
    return body unless @use == "miss" && STORED.include?(status)
    # cacheable compresses an empty body, too, and with the default level.
    coded = Coding.encode(@coding, body, @settings["gzip_at"] || now, *(@form.zero? ? [nil] : [])) unless body.empty? && @form != 0
    headers["Content-Encoding"] = @coding if coded
    keys = @form.zero? ? [@tag, @key] : [@key]
    entry = MessagePack.dump(entry(status, headers, coded))
    keys.each { |key| @store.write(key, entry, raw: true, expires_in: @settings["expires"]) }
    return coded || body if coded && @env["HTTP_ACCEPT_ENCODING"].to_s.include?(@coding)
    headers.delete("Content-Encoding")
    body
  end

  # The tag of the present version, as replies have it.
  def etag = @form.zero? ? @tag : %("#{@tag}")

  private

  def known?(sent)
    return false unless sent
    return sent == @tag if @form.zero?
    sent == "*" || sent == @tag || sent.include?(etag)
  end

  def entry(status, headers, coded)
    # cacheable compressed into a buffer of UTF-8, so its bodies are texts to MessagePack.
    return [status, headers["Content-Type"], coded.dup.force_encoding("UTF-8"), now, *(headers["Location"] if status == 301)] if @form.zero?
    entry = [status, headers.slice(*KEPT), coded, now]
    entry << (@settings["level"] || Coding::LEVELS[@coding] if coded) if @settings.fetch("elements", 4) > 4
    entry << @settings.fetch("metadata") if @settings["elements"] == 6
    entry
  end

  def read(key) = @store.read(key, raw: true)&.then { |bytes| MessagePack.load(bytes) }
  def recent?(entry) = entry[3] >= now - @settings.fetch("tolerance", 0)
  def locked = @store.write("#{@tag}:lock", "1", raw: true, unless_exist: true, expires_in: 90)

  # cacheable has an entry under each key.
  def versioned
    present = read(@tag)
    return present if present || locked || @settings.fetch("tolerance", 0).zero?
    read(@key)&.then { |entry| entry if recent?(entry) }
  end

  # response_bank has one entry, with the tag of its version.
  def newest
    entry = read(@key)
    return locked && nil unless entry
    return entry if entry[1]["ETag"] == etag
    entry unless locked || !recent?(entry)
  end

  def opened(entry)
    status, headers, coded = entry
    headers = { "Content-Type" => headers, "Content-Encoding" => "gzip", "Location" => entry[4] }.compact if @form.zero?
    coding = headers["Content-Encoding"]
    return [status, headers, coded] if coding.nil? || @env["HTTP_ACCEPT_ENCODING"].to_s.include?(coding)
    [status, headers.except("Content-Encoding"), Coding.decode(coding, coded)]
  end
end

# Below `Rack::Head`, as in applications with these gems. `STORES` finds the store of settings.
class PageWriter
  def initialize(app) = @app = app

  def call(env)
    status, headers, body = @app.call(env)
    page = env["pages.page"] or return [status, headers, body]
    headers["ETag"] = page.etag if [*WrittenPage::STORED, 304].include?(status)
    headers["X-Cache"] = page.use
    [status, headers, [page.store(status, headers, body)]]
  end

  # For controllers.
  module Controller
    private

    # Answers from the page of this request, or renders it.
    def page(store, settings)
      if params[:cache] == "false" || !(request.get? || request.head?)
        response.headers["Cache-Control"] = "no-cache, no-store"
        return yield
      end
      page = WrittenPage.new(request.env, store, settings)
      request.env["pages.page"] = page
      status, headers, body = params[:fill_cache] == "true" ? (page.use = "miss") && nil : page.answer
      return yield unless status
      return head(:not_modified) if status == 304
      response.headers.merge!(headers)
      render(status: status, plain: body || "")
    end
  end
end
