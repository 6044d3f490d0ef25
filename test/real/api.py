"""A small API server client, used directly or through the agent. JSON only, one connection per request."""

import http.client
import json
import ssl
import urllib.parse


class Refused(Exception):
    """An answer other than 2xx. `status` is its code, `body` its text."""

    def __init__(self, status, body, headers):
        super().__init__(f"{status}: {body[:600]}")
        self.status = status
        self.body = body
        self.headers = headers


class Api:
    """One address with one credential. `server` is a URL; `ca` a file; `token` may be empty."""

    def __init__(self, server, ca="", token="", agent="holdfast-real"):
        self.url = urllib.parse.urlsplit(server)
        self.token = token
        self.agent = agent
        self.ca = ca  # the file need not exist before the first request

    def context(self):
        return ssl.create_default_context(cafile=self.ca)

    def connect(self, timeout=10):
        if self.url.scheme == "https":
            return http.client.HTTPSConnection(
                self.url.hostname, self.url.port, timeout=timeout,
                context=self.context())
        return http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=timeout)

    def headers(self, kind="application/json", accept="application/json"):
        headers = {"User-Agent": self.agent, "Accept": accept, "Content-Type": kind}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        return headers

    def raw(self, method, path, body=None, kind="application/json", accept="application/json", timeout=10, more=None):
        """Returns (status, headers, text). `more` are headers."""
        connection = self.connect(timeout)
        try:
            data = json.dumps(body) if body is not None else None
            connection.request(method, path, data, {**self.headers(kind, accept), **(more or {})})
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode(errors="replace")
        finally:
            connection.close()

    def request(self, method, path, body=None, kind="application/json", timeout=10):
        status, headers, text = self.raw(method, path, body, kind, timeout=timeout)
        if not 200 <= status < 300:
            raise Refused(status, text, headers)
        return json.loads(text) if text[:1] in ("{", "[") else text

    def get(self, path, timeout=10):
        return self.request("GET", path, timeout=timeout)

    def get_or_none(self, path):
        """The object, or None when the server says 404."""
        try:
            return self.get(path)
        except Refused as refused:
            if refused.status == 404:
                return None
            raise

    def create(self, path, body):
        return self.request("POST", path, body)

    def merge(self, path, body):
        """A strategic merge patch: containers are merged by their name."""
        return self.request("PATCH", path, body, "application/strategic-merge-patch+json")

    def delete(self, path, grace=None):
        options = {} if grace is None else {"gracePeriodSeconds": grace}
        return self.request("DELETE", path, {"apiVersion": "v1", "kind": "DeleteOptions", **options})
