"""A RecordingProxy whose watches can hang: the client sees no error and gets no event, as behind a broken balancer."""

import asyncio
import base64
import urllib.parse

from recording_proxy import RecordingProxy


class HoldingProxy(RecordingProxy):
    """hold() and release() may be called from any thread."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.held = ""  # the path whose watches deliver nothing; "": none
        self.released = asyncio.Event()

    def hold(self, path):
        """From now on watches of `path` deliver nothing. Other requests, and watches of other paths, go on."""
        self._call(self._hold(path))

    def release(self):
        """Delivers what was held back, and all that follows."""
        self._call(self._hold(""))

    async def _hold(self, path):
        self.held = path
        self.released.set()
        self.released.clear()

    async def before_delivery(self, record, content):
        while self.held and urllib.parse.urlsplit(record["target"]).path == self.held:
            await self.released.wait()

    def asked(self, method, path, after=0):
        """How many requests with that method and path were sent, leaving out the first `after` of all requests."""
        return sum(each["method"] == method and urllib.parse.urlsplit(each["target"]).path == path
                   for each in self.exchanges[after:])

    def has_delivered(self, path, word, after=0):
        """Whether a watch of `path` has delivered an event with `word`, leaving out the first `after` events."""
        return word.encode() in b"".join(base64.b64decode(content) for content in self._events(path)[after:])

    def delivered(self, path):
        """How many events the watches of `path` have delivered."""
        return len(self._events(path))

    def _events(self, path):
        return [content for each in self.exchanges if urllib.parse.urlsplit(each["target"]).path == path
                for _, content in each.get("frames", [])]
