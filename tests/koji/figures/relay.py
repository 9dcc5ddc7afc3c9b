"""A relay on loopback that delays what passes, and counts it. As a program (relay.py PORT LOG) it delays nothing, prints its own port, and
adds a line to LOG for each request."""
import collections
import re
import socket
import sys
import threading
import time

REQUEST = re.compile(rb"(?:POST|GET) [^ ]+ HTTP/1\.1\r\n")


class Relay:
    """Passes connections on to a port of this machine. A round trip takes `delay` seconds longer."""

    def __init__(self, port, delay, log=None):
        self.to, self.half, self.log = port, delay / 2, log
        self.requests = self.up = self.down = 0
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                # As a server that is down.
                client.close()
                continue
            for end in (client, server):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            Way(client, server, self.half, self.went)
            Way(server, client, self.half, self.came)

    def went(self, data):
        self.up += len(data)
        lines = REQUEST.findall(data)
        self.requests += len(lines)
        if self.log:
            for line in lines:
                print(line.decode().strip(), file=self.log, flush=True)

    def came(self, data):
        self.down += len(data)

    def counted(self):
        return self.requests, self.up, self.down


class Way:
    """One direction of a connection: a thread reads, another sends when the time of each part has come."""

    def __init__(self, source, to, delay, seen):
        self.source, self.to, self.delay, self.seen = source, to, delay, seen
        self.parts, self.more = collections.deque(), threading.Semaphore(0)
        for work in (self.reads, self.sends):
            threading.Thread(target=work, daemon=True).start()

    def reads(self):
        data = b"-"
        while data:
            try:
                data = self.source.recv(1 << 16)
            except OSError:
                data = b""
            self.seen(data)
            self.parts.append((time.monotonic() + self.delay, data))
            self.more.release()

    def sends(self):
        while self.more.acquire():
            at, data = self.parts.popleft()
            time.sleep(max(0.0, at - time.monotonic()))
            try:
                if not data:
                    self.to.shutdown(socket.SHUT_WR)
                    return
                self.to.sendall(data)
            except OSError:
                return


if __name__ == "__main__":
    with open(sys.argv[2], "a") as log:
        print(Relay(int(sys.argv[1]), 0, log).port, flush=True)
        threading.Event().wait()
