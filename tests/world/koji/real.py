"""Carries out the operations of a test on a real hub: one JSON array a line on standard input, one JSON value a line on standard output.

Arguments: the folder of scripts/koji-hub, which has its ports. Imports the client of the tools, and the database's from the hub's own folder.
"""

import hashlib
import json
import os
import sys

folder = sys.argv[1]
sys.path.append(os.path.join(folder, "code"))

import koji  # noqa: E402
import psycopg2  # noqa: E402

ports = dict(line.split() for line in open(os.path.join(folder, "ports")))
hub = koji.ClientSession("http://127.0.0.1:%s/kojihub" % ports["hub"], {"user": "admin", "password": "s3cret", "max_retries": 1})
hub.login()
late = {}


def database():
    return psycopg2.connect(host="127.0.0.1", port=ports["database"], user="koji", dbname="koji")


def last_event():
    return hub.getLastEvent()["id"]


def split(path):
    """The group, the artifact, the version and the name of a path of a Maven repository."""
    group, artifact, version, name = path.rsplit("/", 3)
    return group.replace("/", "."), artifact, version, name


def staged(files):
    """Writes files where the hub imports from. Returns that folder, below its `work`."""
    below = "cli-build/%d.%d" % (os.getpid(), staged.count)
    staged.count += 1
    where = os.path.join(folder, "top/work", below)
    os.makedirs(where)
    for number, file in enumerate(files):
        place = os.path.join(where, str(number), os.path.basename(file["path"]))
        os.makedirs(os.path.dirname(place))
        with open(place, "wb") as out:
            out.write(bytes.fromhex(file["hex"]))
    for at, _, names in os.walk(os.path.join(folder, "top/work")):
        for name in [at] + [os.path.join(at, name) for name in names]:
            os.chown(name, 65534, 65534, follow_symlinks=False)
    return below


staged.count = 0


def tag(name):
    return hub.createTag(name, maven_support=True)


def build(name, version, release, files):
    below = staged(files)
    if not hub.listCGs().get("lamps"):
        hub.grantCGAccess("admin", "lamps", create=True)
    output = []
    for number, file in enumerate(files):
        group, artifact, mversion, filename = split(file["path"])
        data = bytes.fromhex(file["hex"])
        kind = file.get("digest", "md5")
        entry = {
            "buildroot_id": 1,
            "relpath": str(number),
            "filename": filename,
            "filesize": len(data),
            "checksum_type": kind,
            "checksum": hashlib.new(kind, data).hexdigest(),
            "type": "maven",
            "arch": "noarch",
            "extra": {"typeinfo": {"maven": {"group_id": group, "artifact_id": artifact, "version": mversion}}},
        }
        if file.get("metadata_only"):
            entry["metadata_only"] = True
        output.append(entry)
    group, artifact, mversion, _ = split(files[0]["path"]) if files else ("none", name, version, "")
    metadata = {
        "metadata_version": 0,
        "build": {
            "name": name,
            "version": version,
            "release": release,
            "source": "none",
            "start_time": 1767322800,
            "end_time": 1767322860,
            "owner": "admin",
            "extra": {"typeinfo": {"maven": {"group_id": group, "artifact_id": artifact, "version": mversion}}},
        },
        "buildroots": [
            {
                "id": 1,
                "host": {"os": "none", "arch": "noarch"},
                "content_generator": {"name": "lamps", "version": "1"},
                "container": {"type": "none", "arch": "noarch"},
                "tools": [],
                "components": [],
            }
        ],
        "output": output,
    }
    return hub.CGImport(metadata, below)["id"]


def add_file(number, path, hexadecimal):
    below = staged([{"path": path, "hex": hexadecimal}])
    group, artifact, mversion, filename = split(path)
    place = "%s/0/%s" % (below, filename)
    info = {"group_id": group, "artifact_id": artifact, "version": mversion}
    hub.importArchive(place, hub.getBuild(number), "maven", info)


def listed(number, package):
    """Adds a package to the list of a tag, which the hub wants before its builds."""
    if not hub.getPackageConfig(number, package):
        hub.packageListAdd(number, package, owner="admin")


def tag_build(number, build):
    listed(number, hub.getBuild(build)["package_name"])
    hub.tagBuildBypass(number, build, force=True, notify=False)
    return last_event()


def untag_build(number, build):
    hub.untagBuildBypass(number, build, force=True, notify=False)
    return last_event()


def late_change(number, build, tags):
    """Begins a transaction that tags or untags, and leaves it open. Returns its event."""
    if tags:
        listed(number, hub.getBuild(build)["package_name"])
    connection = database()
    cursor = connection.cursor()
    cursor.execute("select get_event()")
    event = cursor.fetchone()[0]
    if tags:
        cursor.execute(
            "insert into tag_listing (build_id, tag_id, create_event, creator_id) values (%s, %s, %s, 1)", (build, number, event)
        )
    else:
        cursor.execute(
            "update tag_listing set revoke_event = %s, revoker_id = 1, active = null where build_id = %s and tag_id = %s and active",
            (event, build, number),
        )
    late[event] = connection
    return event


def commit(event):
    connection = late.pop(event)
    connection.commit()
    connection.close()


def block(number, package):
    listed(number, package)
    hub.packageListBlock(number, package)
    return last_event()


def unblock(number, package):
    hub.packageListUnblock(number, package)
    return last_event()


def delete_build(number):
    for tag in hub.listTags(build=number):
        hub.untagBuildBypass(tag["id"], number, force=True, notify=False)
    assert hub.deleteBuild(number, True, 0)


def move_build(number, volume):
    if volume not in [known["name"] for known in hub.listVolumes()]:
        os.makedirs(os.path.join(folder, "top/vol", volume), exist_ok=True)
        os.chown(os.path.join(folder, "top/vol", volume), 65534, 65534)
        hub.addVolume(volume)
    hub.changeBuildVolume(number, volume)


def inherit(child, parent, priority):
    link = {"parent_id": parent, "priority": priority, "maxdepth": None, "intransitive": False, "noconfig": False, "pkg_filter": ""}
    hub.setInheritanceData(child, [link])
    return last_event()


def disinherit(child, parent):
    link = [link for link in hub.getInheritanceData(child) if link["parent_id"] == parent][0]
    link["delete link"] = True
    hub.setInheritanceData(child, [link])
    return last_event()


def rename_tag(number, name):
    hub.editTag2(number, name=name)


def delete_tag(number):
    hub.deleteTag(number)
    return last_event()


operations = {
    name: value
    for name, value in list(globals().items())
    if callable(value) and getattr(value, "__module__", "") == "__main__"
}
for line in sys.stdin:
    name, *arguments = json.loads(line)
    try:
        answer = {"answer": operations[name](*arguments)}
    except Exception as error:
        answer = {"failed": "%s: %s" % (name, error)}
    print(json.dumps(answer), flush=True)
