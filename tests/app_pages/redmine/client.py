"""HTTP/1.1 over kept connections, and the codings of bodies."""

import asyncio
import ctypes
import zlib

BROTLI = ctypes.CDLL("libbrotlidec.so.1")


def decoded(coding, body):
    """The body without its coding; raises ValueError for bytes that are not of this coding."""
    if coding == "gzip":
        stream = zlib.decompressobj(31)
        try:
            whole = stream.decompress(body)
        except zlib.error as error:
            raise ValueError(str(error)) from error
        if not stream.eof or stream.unused_data:
            raise ValueError("gzip that is cut off, or followed by more")
        return whole
    if coding == "br":
        room = 1 << 20
        out, size = ctypes.create_string_buffer(room), ctypes.c_size_t(room)
        if BROTLI.BrotliDecoderDecompress(ctypes.c_size_t(len(body)), body, ctypes.byref(size), out) != 1:
            raise ValueError("not Brotli, or longer than 1 MiB")
        return out.raw[: size.value]
    if coding in ("", "identity"):
        return body
    raise ValueError(f"the coding {coding}")


class Answer:
    """A response: status, headers (a list of pairs, names in lower case) and body as sent."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def get(self, name):
        return ", ".join(value for key, value in self.headers if key == name)


class Client:
    """A client with one connection, which it opens again when the server has closed it."""

    def __init__(self, port, host):
        self.port, self.host = port, host
        self.reader = self.writer = None
        self.again = 0

    async def ask(self, method, target, headers=(), body=b""):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {self.host}", *(f"{name}: {value}" for name, value in headers)]
        if body or method not in ("GET", "HEAD"):
            lines.append(f"Content-Length: {len(body)}")
        request = ("\r\n".join(lines) + "\r\n\r\n").encode() + body
        while True:
            kept = self.writer is not None
            if not kept:
                self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port, limit=1 << 20)
            first = b""
            try:
                self.writer.write(request)
                first = await asyncio.wait_for(self.reader.readline(), 70)
                if not first:
                    raise ConnectionError("closed without an answer")
                return await self.rest(method, first)
            except (ConnectionError, asyncio.IncompleteReadError):
                self.close()
                # A kept connection may be closed at any time (RFC 9112, 9.3.1).
                if not kept or first:
                    raise
                self.again += 1
            except BaseException:
                self.close()
                raise

    async def rest(self, method, first):
        status, headers = int(first.split()[1]), []
        while (line := await self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode("latin-1").partition(":")
            headers.append((name.strip().lower(), value.strip()))
        if not line:
            raise ConnectionError("the head is cut off")
        answer = Answer(status, headers, b"")
        length, chunked = answer.get("content-length"), answer.get("transfer-encoding") == "chunked"
        if method == "HEAD" or status in (204, 304):
            pass
        elif chunked:
            parts = []
            while size := int((await self.reader.readline()).split(b";")[0], 16):
                parts.append(await self.reader.readexactly(size))
                await self.reader.readexactly(2)
            await self.reader.readline()
            answer.body = b"".join(parts)
        elif length:
            answer.body = await self.reader.readexactly(int(length))
        else:
            answer.body = await self.reader.read()
            self.close()
        if answer.get("connection").lower() == "close":
            self.close()
        return answer

    def close(self):
        if self.writer:
            self.writer.close()
        self.reader = self.writer = None
