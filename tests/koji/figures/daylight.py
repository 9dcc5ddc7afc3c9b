"""A server of Daylight, and what it serves."""
import http.client
import json
import os
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

ADMIN = "daylight_" + "A" * 43


class Daylight:
    """A server on a folder of data, with an administrator's token."""

    running = []

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.start()

    def start(self, *flags):
        environment = dict(os.environ, DAYLIGHT_ADMIN_TOKEN=ADMIN)
        command = [self.program, "serve", "--data", self.folder, "--listen", "127.0.0.1:0", *flags]
        with open(self.folder + ".log", "a") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=environment, text=True)
        self.running.append(self)
        for line in self.process.stdout:
            if line.startswith("listening on "):
                self.url = line.split()[-1]
                return
        raise SystemExit("error: the server does not start: see " + self.folder + ".log")

    def clock(self, seconds):
        """Sets the clock of a server in conformance mode."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))
        asked = urllib.request.Request(self.url + "/repository/gems-private/set_time", data=moment.encode(), headers={"Content-Type": "text/plain"})
        urllib.request.urlopen(asked).close()

    def stop(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()
        self.running.remove(self)

    @classmethod
    def stop_all(cls):
        for server in list(cls.running):
            server.stop()

    def run(self, *arguments):
        environment = dict(os.environ, DAYLIGHT_TOKEN=ADMIN)
        command = [self.program, *arguments, "--server", self.url]
        return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout

    def call(self, method, path, body=None):
        """The status and the body."""
        headers = {"Authorization": "Bearer " + ADMIN, "Content-Type": "application/json"}
        asked = urllib.request.Request(self.url + path, data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(asked) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def koji(self, name):
        """What the API says of a repository."""
        status, body = self.call("GET", "/api/v1/repositories/" + name)
        assert status == 200, body
        return json.loads(body)

    def until(self, path, wanted=200):
        """Asks until this status is answered, and returns how long that took, in seconds."""
        began = time.monotonic()
        while time.monotonic() - began < 120:
            status, body = self.call("GET", path)
            if status == wanted:
                return time.monotonic() - began
            time.sleep(0.01)
        raise SystemExit(f"error: {path} is {status}, not {wanted}: {body[:300]}")

    def get_all(self, repository, paths):
        """The bodies of files, all on one connection."""
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.url).netloc)
        for path in paths:
            connection.request("GET", f"/repository/{repository}/{path}")
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200, (path, answer.status, body[:300])
            yield body
        connection.close()
