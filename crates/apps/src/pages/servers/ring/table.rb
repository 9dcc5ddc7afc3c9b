# Prints the servers that Dalli's ring gives to keys, for table.txt: `ruby table.rb > table.txt` with Debian's ruby-dalli.
require 'dalli'

Server = Struct.new(:name, :weight, :alive) do
  alias_method :alive?, :alive
end

KEYS = (0...400).map { |i| format('hc1:%032x', i * 2_654_435_761) } +
       (0...100).map { |i| "ns#{i % 7}:cacheable:#{i}" } + ['a', 'é', 'x' * 250]
RINGS = ['127.0.0.1:11211*1 127.0.0.1:11212*1',
         'cache-1.example.com:11211*1 cache-2.example.com:11211*1 Cache-3.example.com:11999*1',
         '10.0.0.1:11211*1 10.0.0.2:11211*3 10.0.0.3:11211*2 ::1:11211*7'].freeze

puts "Dalli #{Dalli::VERSION}: servers, the ones that are down, the server of each key"
RINGS.each do |names|
  all = names.split.map { |name| name.split('*') }
  last = all.size - 1
  [[], [0], [last], [0, last], (0...last).to_a, (0..last).to_a].uniq.each do |down|
    servers = all.each_with_index.map { |(name, weight), at| Server.new(name, weight.to_i, !down.include?(at)) }
    ring = Dalli::Ring.new(servers, threadsafe: false)
    found = KEYS.map { |key| servers.index(ring.server_from_continuum(key)) || '-' }
    puts "#{names}|#{down.join(' ')}|#{found.join}"
  end
end
