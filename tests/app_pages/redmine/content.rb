# Fills Redmine, and prints its content as JSON: `rails runner content.rb PROJECTS`.

require "json"

projects = Integer(ARGV.fetch(0))
base = ActiveRecord::Base.connection
base.execute("PRAGMA journal_mode = WAL")
base.execute("CREATE TABLE page_revisions (project INTEGER PRIMARY KEY, revision INTEGER NOT NULL)")
{ "rest_api_enabled" => "1", "force_default_language_for_anonymous" => "1", "default_language" => "en", "gravatar_enabled" => "0",
  "default_projects_public" => "1", "cross_project_issue_relations" => "0" }.each { |name, value| Setting[name] = value }
at = Time.utc(2025, 3, 1, 12)
User.anonymous
admin = User.find_by(login: "admin")
admin.update!(password: "correct horse", password_confirmation: "correct horse", must_change_passwd: false)
people = %w[alice bob].map do |name|
  User.new(firstname: name.capitalize, lastname: "Signed-In", mail: "#{name}@example.com", language: "en", status: User::STATUS_ACTIVE).tap do |user|
    user.login = name
    user.password = user.password_confirmation = "correct horse"
    user.save!
  end
end
tracker, status, priority = Tracker.first, IssueStatus.first, IssuePriority.first
said = (1..projects).map do |number|
  project = Project.create!(name: "Project #{number}", identifier: "project-#{number}", trackers: Tracker.all, is_public: true,
                            description: "Project #{number}, *revision 0*.", enabled_module_names: %w[issue_tracking wiki news])
  project.update_columns(created_on: at, updated_on: at)
  first = (Issue.maximum(:id) || 0) + 1
  Issue.insert_all!((first..first + 9).map do |id|
    { id: id, root_id: id, lft: 1, rgt: 2, project_id: project.id, tracker_id: tracker.id, status_id: status.id, priority_id: priority.id,
      author_id: people[id % 2].id, subject: "Lamp #{id} is dark", description: "The lamp *#{id}* of project #{number}.\n\n" + "Grün und hell. " * (id % 40),
      created_on: at, updated_on: at, is_private: false, done_ratio: 0, lock_version: 0 }
  end)
  wiki = project.wiki || Wiki.create!(project: project, start_page: "Wiki")
  titles = ["Wiki", "Straße", "Lamps_and_light", "Page_4", "Page_5"]
  titles.each_with_index do |title, index|
    page = WikiPage.create!(wiki: wiki, title: title)
    page.update_columns(created_on: at)
    WikiContent.insert_all!([{ page_id: page.id, author_id: admin.id, text: text = "h1. #{title}\n\nPage #{index} of project #{number}.\n\n" + "A line of light.\n\n" * (20 * index),
                               comments: "", updated_on: at, version: 3 }])
    id = WikiContent.find_by(page_id: page.id).id
    WikiContentVersion.insert_all!((1..3).map do |version|
      { wiki_content_id: id, page_id: page.id, author_id: admin.id, data: "#{text}\n\nVersion #{version}.", compression: "", comments: "", updated_on: at, version: version }
    end)
  end
  News.insert_all!((1..3).map { |item| { project_id: project.id, title: "News #{item}", summary: "s", description: "News #{item} of project #{number}", author_id: admin.id, created_on: at + item } })
  { id: project.id, name: project.identifier, issues: (first..first + 9).to_a, wiki: titles, news: News.where(project_id: project.id).pluck(:id) }
end
puts JSON.generate(projects: said, key: admin.api_key, people: people.map(&:login))
