"""A crawler, visitors, signed-in users and editors at Redmine behind Daylight, while processes are restarted, stopped and killed.

`scripts/redmine-pages` prepares what it needs, and explains its settings."""

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
import urllib.parse

from client import Client
from judge import Judge

WORK, HOST = os.environ["WORK"], "redmine.example"
FOLDER = f"{WORK}/pages"
URLS, CLIENTS, PAUSE_MS = (int(os.environ[name]) for name in ("URLS", "CLIENTS", "PAUSE_MS"))
APP, MEMCACHED = int(os.environ["APP_PORT"]), int(os.environ["MEMCACHED_PORT"])
TOLERANCE, PLANT = int(os.environ["PAGES_TOLERANCE"]), os.environ.get("PLANT", "")
PAGES = os.environ.get("PAGES") != "0"
CONTENT = json.load(open(f"{WORK}/content.json", encoding="utf-8"))
CODINGS = ["gzip, deflate, br"] * 6 + ["gzip, deflate"] * 4 + ["gzip", "br", None, "identity", "gzip;q=0.5, br;q=1.0", "br;q=0, gzip", "gzip;q=0, br", "deflate"]


def versioned(name):
    return [f"/projects/{name}", f"/projects/{name}/issues", f"/projects/{name}/roadmap", f"/projects/{name}/news"]


def targets(chosen):
    """Paths with queries, as many as wanted: at first the plain pages of all projects, then these with queries."""
    plain, cheap = ["/", "/projects", "/issues", "/news", "/issues/999999", "/projects/none"], []
    for project in CONTENT["projects"]:
        top = f"/projects/{project['name']}"
        wiki = [f"{top}/wiki/{urllib.parse.quote(title)}" for title in project["wiki"]]
        plain += [*versioned(project["name"]), f"{top}/wiki/index", *wiki, *(f"{page}/{version}" for page in wiki for version in (1, 2))]
        plain += [f"/issues/{issue}" for issue in project["issues"]] + [f"/news/{news}" for news in project["news"]]
        cheap += [f"{top}.json", f"{top}/news.json", f"{top}/wiki/index.json"] + [f"{page}.json" for page in wiki] + [f"/issues/{issue}.json" for issue in project["issues"]]
        cheap += [f"/news/{news}.json" for news in project["news"]]
    chosen.shuffle(plain)
    # Most of the crawl is what Redmine renders quickly.
    plain = plain[: max(URLS // 5, 60)]
    queries = ("", "?", "?include=journals", "?utm_source=mail%20a", "?page=1&x=", "?q=%C3%BC+%3D", "?a=1&a=2", "?%61=b", "?from=/issues?x=1", "?n=1", "?n=2", "?n=3", "?n=4", "?n=5", "?n=6", "?n=7")
    found = plain + [path + query for query in queries for path in cheap]
    found = list(dict.fromkeys(found))[:URLS]
    chosen.shuffle(found)
    return found


class Run:
    def __init__(self):
        self.chosen = random.Random(int(os.environ.get("SEED", "1")))
        self.judge = Judge(FOLDER, TOLERANCE)
        self.targets = targets(self.chosen)
        # Visitors mostly want the same pages.
        self.popular = self.targets[: max(len(self.targets) // 20, 50)]
        self.popular += [path for project in CONTENT["projects"][:4] for path in versioned(project["name"])]
        self.crawled, self.requests, self.ended = 0, 0, False
        self.outage = self.hits_in_outage = 0
        self.changes = self.refused = 0
        self.clients = []

    def target(self):
        return self.chosen.choice(self.popular if self.chosen.random() < 0.8 else self.targets)

    def client(self, port=None):
        self.clients.append(Client(port or self.port, HOST))
        return self.clients[-1]

    async def pause(self, ms=None):
        await asyncio.sleep(self.chosen.uniform(0.5, 1.5) * (PAUSE_MS if ms is None else ms) / 1000)

    async def public(self, client, method, target, accepts, headers=(), held=None):
        """One judged request of a visitor; None: it failed."""
        headers = [*headers, *([("Accept-Encoding", accepts)] if accepts is not None else [])]
        begun, out = time.monotonic(), self.outage
        self.requests += 1
        try:
            answer = await client.ask(method, target, headers)
        except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError, ValueError) as error:
            self.judge.failed(begun, f"{method} {target}: {error!r}")
            return None, None
        made = self.judge.public(method, target, accepts, answer, begun, held)
        if out and self.outage and not answer.get("x-reached") and answer.status in (200, 304, 404):
            self.hits_in_outage += 1
        return answer, made

    async def visitor(self, number):
        """A visitor, every third with a session, who keeps pages as far as their `Cache-Control` allows it."""
        client, kept, cookie = self.client(), {}, []
        if number % 3 == 0:
            answer = await client.ask("GET", "/login")
            cookie = [("Cookie", f"theme=dark; {answer.get('set-cookie').split(';')[0]}")]
        while not self.ended:
            target, accepts = self.target(), self.chosen.choice(CODINGS)
            headers = [*cookie, ("Accept-Language", self.chosen.choice(("de", "en", "fr"))), ("Accept", "text/html,*/*;q=0.8")]
            lot, held = self.chosen.random(), None
            method = "HEAD" if lot < 0.08 else "GET"
            if target in kept and lot < 0.6:
                tag, held = kept[target]
                headers.append(("If-None-Match", self.chosen.choice(('"%s"', "%s", 'W/"%s"', '"other", "%s"')) % tag))
            elif lot < 0.2:
                headers.append(("If-None-Match", '"cacheable:00000000000000000000000000000000"'))
            elif lot > 0.98:
                headers.append(("Cache-Control", "no-cache"))
            answer, made = await self.public(client, method, target, accepts, headers, held)
            if made and answer.status == 200 and "no-store" not in answer.get("cache-control") and answer.get("etag"):
                kept[target] = (answer.get("etag").strip('"'), made)
            await self.pause(None if answer and answer.status < 500 else 500)

    async def user(self, name):
        client = self.client()
        page = await client.ask("GET", "/login")
        token = re.search(rb'name="authenticity_token" value="([^"]*)"', page.body)[1].decode()
        form = urllib.parse.urlencode({"authenticity_token": token, "username": name, "password": "correct horse"}).encode()
        headers = [("Cookie", page.get("set-cookie").split(";")[0]), ("Content-Type", "application/x-www-form-urlencoded")]
        answer = await client.ask("POST", "/login", headers, form)
        cookies = "; ".join(value.split(";")[0] for key, value in answer.headers if key == "set-cookie")
        assert answer.status == 302 and "signed_in=1" in cookies, f"{name} cannot sign in: {answer.status} {answer.headers}"
        while not self.ended:
            target, begun = self.target(), time.monotonic()
            self.requests += 1
            try:
                answer = await client.ask("GET", target, [("Cookie", cookies), ("Accept-Encoding", "gzip")])
                self.judge.private(target, name, answer, begun)
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                self.judge.failed(begun, f"{target} for {name}: {error!r}")
            await self.pause(PAUSE_MS * 10)

    async def editor(self, number):
        client, turn = self.client(), 0
        key = [("X-Redmine-API-Key", CONTENT["key"]), ("Content-Type", "application/json")]
        while not self.ended:
            turn += 1
            project = self.chosen.choice(CONTENT["projects"][:4] if turn % 2 else CONTENT["projects"])
            text = f"Change {turn} of editor {number} at {project['name']}."
            target, change = self.chosen.choice([
                (f"/projects/{project['id']}.json", {"project": {"description": text}}),
                (f"/issues/{self.chosen.choice(project['issues'])}.json", {"issue": {"description": text}}),
                (f"/news/{self.chosen.choice(project['news'])}.json", {"news": {"description": text}}),
                (f"/projects/{project['name']}/wiki/{urllib.parse.quote(self.chosen.choice(project['wiki']))}.json", {"wiki_page": {"text": text}}),
            ])
            begun = time.monotonic()
            self.requests += 1
            try:
                answer = await client.ask("PUT", target, key, json.dumps(change).encode())
                if answer.get("x-changed"):
                    self.judge.confirm(json.loads(answer.get("x-changed")), time.monotonic())
                    self.changes += 1
                elif answer.status == 503 and answer.get("x-reached"):
                    # memcached did not answer: nothing was changed.
                    self.refused += 1
                else:
                    self.judge.failed(begun, f"PUT {target}: {answer.status} {answer.body[:200]}")
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError) as error:
                self.judge.failed(begun, f"PUT {target}: {error!r}")
            await self.pause(1000)

    async def crawler(self, left):
        client = self.client()
        while left:
            target = left.pop()
            answer, _ = await self.public(client, "GET", target, "gzip, br", [("User-Agent", "crawler")])
            if answer is None or answer.status >= 500:
                left.insert(0, target)
                await asyncio.sleep(0.3)
            else:
                self.crawled += 1

    async def direct(self):
        """Renders pages directly, now and then, and compares them with what was noted for the same revision."""
        client = self.client(APP)
        while not self.ended:
            try:
                await self.compare(client, self.target())
            except (OSError, asyncio.IncompleteReadError, asyncio.TimeoutError):
                pass
            await self.pause(1000)

    async def compare(self, client, target):
        answer = await client.ask("GET", target, [("X-Direct", "1")])
        made = json.loads(answer.get("x-rendered"))
        self.judge.learn()
        moment = (made["target"], (made["release"], made["revision"]), made["scope"])
        noted = self.judge.several.setdefault(moment, made["sha"])
        if noted != made["sha"]:
            self.judge.fault("wrong bytes", f"{target} rendered directly differs from what was noted for {moment}")
        self.judge.counts["rendered directly"] += 1
        return made

    # What happens meanwhile.

    async def until(self, share):
        while self.crawled < share * len(self.targets):
            await asyncio.sleep(0.05)

    def say(self, words):
        print(f"{time.monotonic() - self.begun:6.1f} s, {self.crawled:5} URLs: {words}", flush=True)

    async def events(self):
        await self.until(0.15)
        self.say("Daylight is replaced in place (SIGUSR2)")
        self.front.send_signal(signal.SIGUSR2)
        await self.until(0.3)
        self.say("memcached is killed, and started again after a second")
        self.memcached.kill()
        self.memcached.wait()
        await asyncio.sleep(1)
        self.start_memcached()
        if PLANT:
            await self.until(0.37)
            self.plant()
        await self.until(0.45)
        self.say("memcached is stopped for 4 seconds (SIGSTOP)")
        self.memcached.send_signal(signal.SIGSTOP)
        await asyncio.sleep(4)
        self.memcached.send_signal(signal.SIGCONT)
        await self.until(0.6)
        await self.deploy()
        await self.until(0.78)
        # Pages of the new release are there by then, also in a short run.
        sent = self.sent() + 100
        while PAGES and self.sent() < sent:
            await asyncio.sleep(0.05)
        await self.crash()

    def sent(self):
        return self.judge.counts["visitors: not the application"]

    async def deploy(self):
        self.say("a release is deployed: unicorn gets SIGUSR2")
        old = self.master()
        with open(f"{FOLDER}/release.next", "w", encoding="utf-8") as file:
            file.write("2\n")
        os.kill(old, signal.SIGUSR2)
        while self.app.poll() is None or open(f"{FOLDER}/release", encoding="utf-8").read().strip() != "2":
            await asyncio.sleep(0.02)
        self.judge.confirm({"release": 2}, time.monotonic())
        self.say("the old release has ended")

    async def crash(self):
        self.say("all processes of the application are killed (SIGKILL)")
        begun = time.monotonic()
        self.judge.allow(begun, float("inf"))
        master = self.master()
        workers = [int(one) for one in open(f"/proc/{master}/task/{master}/children", encoding="utf-8").read().split()]
        for process in (master, *workers):
            os.kill(process, signal.SIGKILL)
        self.outage = 1
        await asyncio.sleep(4)
        self.start_app()
        await self.ready()
        self.outage = 0
        self.judge.allowed[-1] = (begun, time.monotonic())
        self.say("the application serves again")

    def plant(self):
        """Faults that the judge must find."""
        self.say(f"planted: {PLANT}")
        if PLANT == "stale":
            # Changes no longer remove pages.
            open(f"{FOLDER}/keep", "w", encoding="utf-8").close()
        elif PLANT == "body":
            planted = subprocess.run(["ruby", f"{WORK}/swap.rb", str(MEMCACHED), f"{FOLDER}/keys"], check=True, capture_output=True, text=True)
            self.say(planted.stdout.strip())

    # Processes.

    def master(self):
        return int(open(f"{FOLDER}/unicorn.pid", encoding="utf-8").read())

    def start_memcached(self):
        self.memcached = subprocess.Popen(["memcached", "-u", "nobody", "-l", "127.0.0.1", "-p", str(MEMCACHED), "-m", "512"])

    def start_app(self):
        log = open(f"{WORK}/unicorn.log", "a", encoding="utf-8")
        command = ["bundle", "exec", "unicorn", "-E", "production", "-c", f"{WORK}/unicorn.rb", "config.ru"]
        self.app = subprocess.Popen(command, cwd=f"{WORK}/redmine", stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    async def ready(self):
        """Waits until the application answers."""
        client = Client(APP, HOST)
        for _ in range(1200):
            try:
                await client.ask("GET", "/robots.txt")
                return client.close()
            except OSError:
                await asyncio.sleep(0.05)
        sys.exit("error: Redmine has not started; its log:\n" + open(f"{WORK}/unicorn.log", encoding="utf-8").read()[-3000:])

    def start_front(self):
        log = open(f"{WORK}/front.log", "wb")
        addresses = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data", f"{WORK}/data"]
        self.front = subprocess.Popen([os.environ["PROGRAM"], "front", "--config", f"{WORK}/daylight.toml", *addresses], stdout=log, stderr=log)
        for _ in range(200):
            said = open(f"{WORK}/front.log", encoding="utf-8").read()
            found = re.search(r"^listening on http://[^:]*:(\d+)$.*^admin page on (\S+)$", said, re.M | re.S)
            if found:
                self.port, self.admin = int(found[1]), found[2]
                return
            time.sleep(0.05)
        sys.exit(f"error: Daylight has not started:\n{said}")

    def end(self):
        for name in ("front", "memcached"):
            process = getattr(self, name, None)
            if process and process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
                process.wait()
        try:
            os.kill(self.master(), signal.SIGTERM)
        except (OSError, ValueError):
            pass

    async def all(self):
        self.start_memcached()
        self.start_app()
        await self.ready()
        self.start_front()
        self.begun = time.monotonic()
        left, users, editors = self.targets[::-1], max(CLIENTS // 6, 2), 2
        clients = [asyncio.create_task(self.visitor(number)) for number in range(max(CLIENTS - users - editors, 1))]
        clients += [asyncio.create_task(self.user(CONTENT["people"][number % 2])) for number in range(users)]
        clients += [asyncio.create_task(self.editor(number)) for number in range(editors)] + [asyncio.create_task(self.direct())]
        work = asyncio.gather(self.events(), *(self.crawler(left) for _ in range(4)))
        done, _ = await asyncio.wait([work, *clients], return_when=asyncio.FIRST_COMPLETED)
        self.ended = True
        for one in done:
            one.result()
        await asyncio.gather(*clients)
        self.seconds = time.monotonic() - self.begun
        await self.compare_now()

    async def compare_now(self):
        """Nothing changes any more: what Daylight sends is what Redmine renders."""
        await asyncio.sleep(TOLERANCE + 1.1)
        front, app = self.client(), self.client(APP)
        for target in self.chosen.sample(self.targets, min(len(self.targets), 200)):
            _, made = await self.public(front, "GET", target, "gzip")
            now = await self.compare(app, target)
            if made and made["sha"] != now["sha"]:
                self.judge.fault("stale", f"{target} at the end: {made} instead of {now}")

    def ask(self, question):
        """The answer of Daylight, in one line."""
        settings = {**os.environ, "DAYLIGHT_SERVER": self.admin, "DAYLIGHT_TOKEN": os.environ["DAYLIGHT_ADMIN_TOKEN"]}
        asked = subprocess.run([os.environ["PROGRAM"], "ask", question], env=settings, capture_output=True, text=True)
        return "; ".join(" ".join(line.split()) for line in (asked.stdout + asked.stderr).splitlines() if line.strip())

    def summary(self):
        judge, counts = self.judge, self.judge.counts
        reached = sum(count for name, count in counts.items() if name.endswith(": application"))
        saved = self.sent()
        print(f"{self.seconds:.0f} s; {self.requests} requests through Daylight, {self.crawled} of them of the crawler; {self.changes} changes confirmed, {self.refused} refused while memcached did not answer")
        print(f"{saved} of {saved + reached} requests ({saved / max(saved + reached, 1):.1%}) did not reach the application; {self.hits_in_outage} pages were sent while it was dead")
        print("cache-status: " + ", ".join(f"{status} {count}" for status, count in judge.outcomes.most_common()))
        print("judged: " + ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))
        print("outcomes of pages: " + self.ask("count by app_page where repository = redmine order -count"))
        print(f"connections that had been closed and were opened again: {sum(client.again for client in self.clients)}; oldest page within the tolerance: {judge.oldest_s:.2f} s")
        if PAGES:
            for words, count in (("a page of Daylight's", saved), ("a page while the application was dead", self.hits_in_outage), ("a 304", counts["304"]), ("a change", self.changes)):
                if not count:
                    judge.fault("nothing seen", f"not once: {words}")
        faults = sum(judge.faults.values())
        print(f"faults: {dict(judge.faults)}" if faults else "0 wrong bytes, 0 stale beyond the tolerance, nothing private in public pages, 0 failures outside of the outage")
        return 1 if faults else 0


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run = Run()
    try:
        asyncio.run(run.all())
        code = run.summary()
    finally:
        run.end()
    sys.exit(code)
