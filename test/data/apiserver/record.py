#!/usr/bin/env python3
"""Sends the requests of a recorded session to another kube-apiserver and records its answers.

    record.py exchanges.jsonl https://127.0.0.1:16443 >exchanges-1.36.jsonl

The server must be empty, without controllers and without the admission plugin ServiceAccount, and
know the tokens "admin" (system:masters) and "bootstrap" (no rights). Values that the first server chose
(uids, versions, names, continue tokens) are replaced in later requests by those of this server.
"""

import http.client
import json
import re
import ssl
import sys
import urllib.parse

KEPT = ("content-type", "retry-after", "warning", "location", "content-length")
CHOSEN = ("uid", "continue", "clusterIP")
# Beta versions of the first server, and the versions that replace them.
MOVED = (("policy/v1beta1", "policy/v1"), ("discovery.k8s.io/v1beta1", "discovery.k8s.io/v1"))


def learn(old, new, known, key=""):
    """Stores in `known` the pairs of values that the two servers chose at the same place of an answer."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            learn(value, new.get(name), known, name)
    elif isinstance(old, list) and isinstance(new, list):
        for left, right in zip(old, new):
            learn(left, right, known, key)
    elif isinstance(old, str) and isinstance(new, str) and old != new:
        if key in CHOSEN or (key == "name" and old.startswith("g-")):
            known.setdefault(old, new)
        elif key == "resourceVersion" and old.isdigit() and old != "1":
            known.setdefault("version " + old, new)


def translate(text, known):
    for old, new in known.items():
        if not old.startswith("version "):
            text = text.replace(old, new)
    for old, new in MOVED:
        text = text.replace(old, new)
    replace = lambda found: found.group(1) + known.get("version " + found.group(2), found.group(2))
    return re.sub(r'(resourceVersion(?:=|": ?"))(\d+)', replace, text)


def without_managed_fields(value):
    if isinstance(value, dict):
        value.pop("managedFields", None)
        for each in value.values():
            without_managed_fields(each)
    elif isinstance(value, list):
        for each in value:
            without_managed_fields(each)
    return value


class Server:
    def __init__(self, url):
        self.at = urllib.parse.urlsplit(url).netloc
        self.context = ssl._create_unverified_context()

    def ask(self, method, target, token, accept="", content_type="", body=None, limit=20):
        connection = http.client.HTTPSConnection(self.at, context=self.context, timeout=limit)
        headers = {"Authorization": "Bearer " + token}
        if accept:
            headers["Accept"] = accept
        if content_type:
            headers["Content-Type"] = content_type
        connection.request(method, target, body, headers)
        answer = connection.getresponse()
        return answer, answer.read().decode()


def answer_of(old, text):
    """The answer in the form of the first recording: a list for a watch, else an object, else the text."""
    if isinstance(old["response"], list):
        try:
            return [without_managed_fields(json.loads(line)) for line in text.splitlines() if line]
        except ValueError:
            pass
    try:
        return without_managed_fields(json.loads(text))
    except ValueError:
        return text


def record(old, server, known):
    target = translate(old["target"], known)
    body = old.get("body")
    if body is not None:
        body = translate(body if isinstance(body, str) else json.dumps(body), known)
    token = {"unauthorized": "wrong", "forbidden": "bootstrap"}.get(old["note"], "admin")
    answer, text = server.ask(old["method"], target, token, old.get("accept", ""),
                              old.get("contentType", ""), body)
    new = {"note": old["note"], "method": old["method"], "target": target}
    for name in ("accept", "contentType"):
        if name in old:
            new[name] = old[name]
    if body is not None:
        new["body"] = body if isinstance(old["body"], str) else json.loads(body)
    new["status"] = answer.status
    headers = {name.lower(): value for name, value in answer.getheaders()}
    new["responseHeaders"] = {name: headers[name] for name in KEPT if name in headers}
    new["response"] = answer_of(old, text)
    learn(old["response"], new["response"], known)
    return new


def main():
    server, known = Server(sys.argv[2]), {}
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            print(json.dumps(record(json.loads(line), server, known), separators=(",", ":")))


main()
