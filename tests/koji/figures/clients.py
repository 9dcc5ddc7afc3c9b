"""The questions that other programs ask Koji's hub to find the same files, with Koji's own client library."""
import koji


def session(url):
    made = koji.ClientSession(url, opts={"krb_rdns": False})
    made.opts.update({"user": "admin", "password": "s3cret"})
    return made


def known(coordinates):
    return dict(zip(("group_id", "artifact_id", "version"), coordinates))


def one_by_one(url, files):
    """Three calls a file, with a login and a logout around each."""
    hub = session(url)
    for coordinates, filename in files:
        def logged_in(method, *arguments, **named):
            hub.login()
            answer = getattr(hub, method)(*arguments, **named)
            hub.logout()
            return answer

        archives = logged_in("listArchives", type="maven", typeInfo=known(coordinates))
        [archive] = [archive for archive in archives if archive["filename"] == filename]
        build = logged_in("getBuild", archive["build_id"])
        assert logged_in("listTags", build["build_id"]) and build["state"] == 1


def many(hub, method, arguments):
    """One multiCall."""
    hub.multicall = True
    for argument in arguments:
        getattr(hub, method)(argument)
    return [answer for [answer] in hub.multiCall()]


def by_path(url, paths):
    """As Indy's content manager asks for the first path of a build: five calls, without a login."""
    hub = session(url)
    for coordinates, filename in paths:
        archives = hub.listArchives(type="maven", typeInfo=known(coordinates))
        builds = many(hub, "getBuild", [archive["build_id"] for archive in archives])
        tags = many(hub, "listTags", [build["build_id"] for build in builds])
        assert all(tags) and filename in [archive["filename"] for archive in archives]
        every = hub.listArchives(buildID=builds[0]["build_id"])
        many(hub, "getMavenArchive", [archive["id"] for archive in every])
