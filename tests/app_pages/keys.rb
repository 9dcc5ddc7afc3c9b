# The keys under which response_bank and cacheable write the page of a URL, with their default key data. A key of the form 0 or 1 depends on the
# Ruby that computes it: since 3.4 it inspects a hash with spaces.

require "digest"

# Keys by the number of their form: 0 of cacheable, 1 and 2 of response_bank. `version` is nil for the key under which a page is stored.
module PageKey
  # `spaced`: whether the hash is inspected as since Ruby 3.4; nil: as this Ruby does.
  def self.of(form, path, query, version, coding, spaced: nil)
    data = { "env" => { "PATH_INFO" => path, "QUERY_STRING" => query } }
    "cacheable:" + Digest::MD5.hexdigest(form == 2 ? typed(named(data, version, coding)) : plain(form, inspected(data, spaced), version, coding))
  end

  def self.named(data, version, coding)
    { key: { "request" => data }, **(version ? { version: version } : {}), key_schema_version: 2, encoding: coding }
  end

  def self.plain(form, data, version, coding)
    parts = [data, version&.values&.join(",")].compact
    form == 1 ? ["1", *parts, coding].join(":") : parts.join(":")
  end

  def self.inspected(value, spaced)
    return value.inspect if spaced.nil? || !value.is_a?(Hash)
    arrow = spaced ? " => " : "=>"
    "{" + value.map { |name, part| name.inspect + arrow + inspected(part, spaced) }.join(", ") + "}"
  end

  # Each value with its type and its length in bytes.
  def self.typed(value)
    counted = ->(letter, text) { "#{letter}#{text.bytesize}:#{text}" }
    case value
    when Hash then "h#{value.size}:" + value.flat_map(&:itself).map { |part| typed(part) }.join
    when Array then "a#{value.size}:" + value.map { |part| typed(part) }.join
    when String then counted["s", value]
    when Symbol then counted["y", value.to_s]
    when Integer then counted["i", value.to_s]
    when true, false then value ? "b1" : "b0"
    when nil then "n"
    else raise "no version data of the tests: #{value.class}"
    end
  end
end
