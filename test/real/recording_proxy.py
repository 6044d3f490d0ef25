"""An HTTP/1.1 proxy on loopback that records the traffic between a client and an API server.

The client uses plain HTTP and sends no credentials; the proxy adds a token and uses TLS to the server. Everything else
passes unchanged. test/data/kubelet/README.md describes the format of the recording.
"""

import asyncio
import base64
import ssl
import threading
import time
import urllib.parse

HEADERS_THAT_MATTER = {"user-agent", "accept", "content-type", "accept-encoding", "content-encoding",
                       "transfer-encoding", "retry-after", "warning", "location"}


class Ended(Exception):
    """One side has closed its connection."""


class Message:
    """The head of a request or of a response, as received."""

    def __init__(self, raw):
        self.raw = raw
        first, *lines = raw.decode("latin-1").split("\r\n")
        self.words = first.split(" ", 2)
        pairs = (line.partition(":") for line in lines if line)
        self.headers = {name.lower(): value.strip() for name, _, value in pairs}
        self.is_chunked = self.headers.get("transfer-encoding", "") == "chunked"
        self.length = int(self.headers.get("content-length", 0))

    def kept(self):
        return {name: value for name, value in self.headers.items() if name in HEADERS_THAT_MATTER}

    def with_header(self, name, value):
        """The bytes of the head with one more header."""
        return self.raw[:-2] + f"{name}: {value}\r\n\r\n".encode()


async def read_message(reader, first=b""):
    """Reads a head. `first` contains its bytes that were already read. Raises Ended at the end of the stream."""
    try:
        return Message(first + await reader.readuntil(b"\r\n\r\n"))
    except asyncio.IncompleteReadError as error:
        raise Ended from error


async def read_chunk(reader):
    """Reads one chunk. Returns (bytes as sent, content); the last chunk's content is empty."""
    size = await reader.readuntil(b"\r\n")
    content = await reader.readexactly(int(size.split(b";")[0], 16) + 2)
    return size + content, content[:-2]


async def read_body(reader, message):
    """Reads a whole body. Returns (bytes as sent, content)."""
    if not message.is_chunked:
        content = await reader.readexactly(message.length)
        return content, content
    sent, body = b"", b""
    while True:
        raw, content = await read_chunk(reader)
        sent, body = sent + raw, body + content
        if not content:
            return sent, body


def text(content):
    return base64.b64encode(content).decode()


class RecordingProxy:
    """Listens while it is open. `context` is for TLS to the server, None for plain HTTP.

    The methods may be called from any thread; `exchanges` is complete once close() has returned.
    """

    def __init__(self, port, server, token, context):
        self.port, self.server, self.token, self.context = port, server, token, context
        self.exchanges = []  # in the order of the requests
        self.starts = 0  # how often the client was started
        self.is_new = False  # the client has sent no request since its last start
        self.connections = 0
        self.began = None
        self.tasks = set()
        self.listener = None
        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

    def open(self):
        self._call(self._open())

    def close(self):
        """Closes all connections and refuses new ones."""
        self._call(self._close())

    def client_starts(self):
        """Marks the next request as the first one of a new client process."""
        self.starts, self.is_new = self.starts + 1, True

    def _call(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(10)

    async def _open(self):
        self.listener = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self.listener.sockets[0].getsockname()[1]

    async def _close(self):
        self.listener.close()
        tasks = list(self.tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _now(self):
        now = time.monotonic()
        self.began = self.began or now
        return round(now - self.began, 3)

    async def _serve(self, reader, writer):
        self.tasks.add(asyncio.current_task())
        self.connections += 1
        number, to_server = self.connections, None
        try:
            up, to_server = await asyncio.open_connection(*self.server, ssl=self.context)
            first = b""
            while True:
                request = await read_message(reader, first)
                first = await self._exchange(number, request, (reader, writer), (up, to_server))
        except (Ended, OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the recording keeps the part of the exchange that was received
        finally:
            self.tasks.discard(asyncio.current_task())
            for each in (writer, to_server):
                if each is not None:
                    each.transport.abort()

    async def _exchange(self, number, request, client, server):
        """Relays one request and its answer. Returns the bytes of the next request that were already read."""
        (reader, writer), (up, to_server) = client, server
        method, target, _ = request.words
        sent, body = await read_body(reader, request)
        record = {"t": self._now(), "connection": number, "method": method, "target": target,
                  "requestHeaders": request.kept()}
        if body:
            record["requestBody"] = text(body)
        if self.is_new:
            record["start"], self.is_new = self.starts, False
        self.exchanges.append(record)
        to_server.write(request.with_header("Authorization", "Bearer " + self.token) + sent)
        await to_server.drain()
        response = await read_message(up)
        record["status"] = int(response.words[1])
        record["responseHeaders"] = response.kept()
        writer.write(response.raw)
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(target).query)
        if "watch" in query and record["status"] == 200:
            return await self._relay_watch(record, client, up)
        sent, body = await read_body(up, response)
        writer.write(sent)
        await writer.drain()
        if urllib.parse.urlsplit(target).path.endswith("/token") and record["status"] < 300:
            record["responseBodyOmitted"] = True
        elif body:
            record["responseBody"] = text(body)
        return b""

    async def before_delivery(self, record, content):
        """Called with each piece of a watch before the client gets it. A derived class may hold it back."""

    async def _relay_watch(self, record, client, up):
        reader, writer = client
        record["frames"], record["closed"] = [], False
        client_says = asyncio.ensure_future(reader.read(1))  # completes at the next request or the client's end
        chunk = None
        try:
            while not record["closed"]:
                chunk = asyncio.ensure_future(read_chunk(up))
                await asyncio.wait({chunk, client_says}, return_when=asyncio.FIRST_COMPLETED)
                if not chunk.done():
                    raise Ended
                raw, content = chunk.result()
                await self.before_delivery(record, content)
                if content:
                    record["frames"].append([self._now(), text(content)])
                record["closed"] = not content
                writer.write(raw)
                await writer.drain()
        finally:
            if not record["closed"]:
                for task in (chunk, client_says):
                    task.cancel()
                await asyncio.gather(chunk, client_says, return_exceptions=True)
        return await client_says


def client_context(ca):
    """A TLS context that offers only HTTP/1.1; `ca` is a file with the CA certificate."""
    context = ssl.create_default_context(cafile=ca)
    context.set_alpn_protocols(["http/1.1"])
    return context
