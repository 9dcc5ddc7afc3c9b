"""Whether each answer is a page that the application rendered for its URL, recent enough, and for this visitor."""

import collections
import hashlib
import json
import re
import time

from client import decoded

MARK = re.compile(rb"<!-- project (\d+) revision (\d+) release (\d+) -->")
NAME = re.compile(rb'id="loggedas">[^<]*<a [^>]*>(\w+)</a>')
SECRETS = (b'id="loggedas"', b"csrf-token", b"authenticity_token", b"Signed-In</a></li>")


class Judge:
    """`tolerance`: seconds that pages with a version may be old."""

    def __init__(self, folder, tolerance):
        self.tolerance = tolerance
        self.file = open(f"{folder}/renderings", encoding="utf-8")
        self.part = ""
        # For each target the renderings, the newest for each body.
        self.known = collections.defaultdict(dict)
        self.several = {}
        # For each project, and `release`: the revisions with the moments at which their changes were confirmed.
        self.confirmed = collections.defaultdict(list)
        self.allowed = []
        self.faults = collections.Counter()
        self.counts = collections.Counter()
        self.outcomes = collections.Counter()
        self.oldest_s = 0.0

    def fault(self, kind, words):
        self.faults[kind] += 1
        if self.faults[kind] <= 5:
            print(f"fault: {kind}: {words}", flush=True)

    def learn(self):
        """Reads the renderings that the application has noted since."""
        lines = (self.part + self.file.read()).split("\n")
        self.part = lines.pop()
        for line in lines:
            made = json.loads(line)
            target = made["target"]
            made["moment"] = (made["release"], made["revision"])
            earlier = self.known[target].get(made["sha"])
            if not earlier or made["moment"] >= earlier["moment"]:
                self.known[target][made["sha"]] = made
            other = self.several.setdefault((target, made["moment"], made["scope"]), made["sha"])
            if other != made["sha"]:
                self.fault("two bodies", f"the application rendered {target} at revision {made['moment']} of project {made['scope']} in two ways")

    def rendering(self, target, sha):
        # Also when the body is known: a later revision may have the same one.
        self.learn()
        return self.known[target.removesuffix("?")].get(sha)

    def confirm(self, changed, now):
        for scope, revision in changed.items():
            self.confirmed[str(scope)].append((now, int(revision)))

    def allow(self, begun, ended):
        """Failures are allowed between these moments."""
        self.allowed.append((begun, ended))

    def failed(self, begun, words):
        ended = time.monotonic()
        if any(begun <= until and since <= ended for since, until in self.allowed):
            self.counts["failed in the outage"] += 1
        else:
            self.fault("failed", words)

    def late_s(self, scope, revision, begun):
        """For how many seconds, when the request began, a newer revision than this had been confirmed."""
        return max([0.0] + [begun - moment for moment, newer in self.confirmed[str(scope)] if newer > revision])

    def age(self, made, begun, said):
        late = max(self.late_s(made["scope"], made["revision"], begun), self.late_s("release", made["release"], begun))
        # Entries have whole seconds: what was stored 3.9 s ago may count as 3 s old.
        bound = self.tolerance + 1 if made["versioned"] else 0
        if late > bound:
            self.fault("stale", f"{said}: release {made['release']}, revision {made['revision']} of project {made['scope']}, outdated {late:.3f} s before the request")
        elif late:
            self.counts["older pages within the tolerance"] += 1
            self.oldest_s = max(self.oldest_s, late)

    def outcome(self, answer, visitor):
        status = answer.get("cache-status")
        hit = "hit" in [part.strip() for part in status.split(";")]
        reached = bool(answer.get("x-reached"))
        if hit == reached:
            self.fault("cache-status", f"`{status}` on an answer that {'reached' if reached else 'did not reach'} the application")
        self.outcomes[status or "none"] += 1
        self.counts[f"{visitor}: {'application' if reached else 'not the application'}"] += 1
        return hit

    def body(self, answer, said, accepts, hit):
        """The decoded body, or None."""
        coding = answer.get("content-encoding")
        if hit and coding and not accepted(coding, accepts):
            return self.fault("coding", f"{said}: {coding} for a client that sent `{accepts}`")
        try:
            return decoded(coding, answer.body)
        except ValueError as error:
            return self.fault("wrong bytes", f"{said}: {error}")

    def public(self, method, target, accepts, answer, begun, held):
        """An answer for a visitor who has not signed in. `held`: the rendering that the client named in `If-None-Match`. Returns the rendering."""
        said = f"{method} {target} ({answer.get('cache-status')})"
        if answer.status in (502, 503, 504):
            return self.failed(begun, f"{said}: {answer.status}")
        hit = self.outcome(answer, "visitors")
        if answer.get("set-cookie"):
            self.fault("cookie", f"{said}: a public page sets a cookie")
        if answer.status == 304:
            self.counts["304"] += 1
            return self.age(held, begun, said) if held else self.fault("304", f"{said}: without a validator")
        if method == "HEAD":
            self.counts["HEAD"] += 1
            self.learn()
            made = [one for one in self.known[target.removesuffix("?")].values() if (one["status"], one["type"]) == (answer.status, answer.get("content-type"))]
            return None if made else self.fault("wrong head", f"{said}: {answer.status} {answer.get('content-type')}")
        body = self.body(answer, said, accepts, hit)
        if body is None:
            return None
        for secret in SECRETS:
            if secret in body:
                self.fault("secret", f"{said}: {secret.decode()} in a public page")
        made = self.rendering(target, hashlib.sha256(body).hexdigest())
        if not made or made["status"] != answer.status or made["type"] != answer.get("content-type"):
            mark = MARK.search(body)
            return self.fault("wrong bytes", f"{said}: {answer.status}, {len(body)} bytes that the application did not render for this URL; {mark and mark[0].decode()}")
        mark = MARK.search(body)
        if mark and int(mark[1]) != made["scope"]:
            return self.fault("wrong bytes", f"{said}: {mark[0].decode()} instead of project {made['scope']}")
        self.counts["bodies compared"] += 1
        self.age(made, begun, said)
        return made

    def private(self, target, user, answer, begun):
        """An answer for a signed-in user."""
        said = f"{target} for {user} ({answer.get('cache-status')})"
        if answer.status in (502, 503, 504):
            return self.failed(begun, f"{said}: {answer.status}")
        if self.outcome(answer, "signed-in"):
            return self.fault("private", f"{said}: not from the application")
        body = self.body(answer, said, "gzip", False)
        if body is not None and answer.get("content-type").startswith("text/html"):
            name = NAME.search(body)
            if not name or name[1].decode() != user or b"csrf-token" not in body:
                self.fault("private", f"{said}: a page of {name and name[1].decode()}")
            self.counts["pages of users compared"] += 1


def accepted(coding, accepts):
    """Whether `Accept-Encoding` lets a coding be sent (RFC 9110, 12.5.3)."""
    for part in (accepts or "").split(","):
        name, *parameters = [piece.strip() for piece in part.split(";")]
        if name in (coding, "*"):
            return not any(parameter.startswith("q=") and float(parameter[2:]) == 0 for parameter in parameters)
    return False
