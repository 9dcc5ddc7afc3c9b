# Unicorn, whose new master takes over after USR2: the old one ends when the workers of the new release serve.

worker_processes Integer(ENV.fetch("PAGES_WORKERS"))
listen ENV.fetch("PAGES_LISTEN"), backlog: 1024
pid "#{ENV.fetch("PAGES_FOLDER")}/unicorn.pid"
timeout 60
preload_app true

before_fork do |server, worker|
  ActiveRecord::Base.connection_pool.disconnect!
  next unless worker.nr.zero?
  Pages.begin_release
  Pages.client.close
  old = "#{server.config[:pid]}.oldbin"
  Process.kill(:QUIT, Integer(File.read(old))) if File.exist?(old)
rescue Errno::ESRCH
  nil
end
