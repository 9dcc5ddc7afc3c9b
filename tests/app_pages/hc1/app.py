"""The same application as app.ru, with the middleware of docs/hc1.md for WSGI (hc1.py), on the server of Python's standard library."""

import json
import os
from wsgiref.simple_server import WSGIRequestHandler, make_server

from hc1 import HC1
from pymemcache.client.base import PooledClient

FOLDER = os.environ["APP_FOLDER"]


def application(env, start_response):
    with open(os.path.join(FOLDER, "pages.json"), encoding="utf-8") as file:
        pages = json.load(file)
    page = pages.get(env["PATH_INFO"].encode("latin-1").decode(), {"status": 404})
    start_response(f"{page.get('status', 200)} Status", list(page.get("headers", {}).items()))
    body = page["bodies"][env.get("HTTP_ACCEPT_LANGUAGE", "")] if "bodies" in page else page.get("body", "")
    return [body.encode()]


class Quiet(WSGIRequestHandler):
    def log_message(self, *_):
        pass


host, port = os.environ["MEMCACHED"].split(":")
counted = HC1(application, PooledClient((host, int(port))), counters=os.environ["COUNTERS"].split())
make_server("127.0.0.1", int(os.environ["PORT"]), counted, handler_class=Quiet).serve_forever()
