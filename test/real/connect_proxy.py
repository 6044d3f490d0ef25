#!/usr/bin/env python3
"""connect_proxy.py PORT USER:PASSWORD: an HTTP proxy on loopback that knows CONNECT alone.

It prints a line for each request: its target, and the status of the answer. Requests without the user's name and
password are answered with 407.
"""

import asyncio
import base64
import sys

PORT, CREDENTIALS = int(sys.argv[1]), base64.b64encode(sys.argv[2].encode()).decode()


async def pump(reader, writer):
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    writer.close()


async def answer(writer, target, status):
    print(target, status, flush=True)
    writer.write(f"HTTP/1.1 {status}\r\n\r\n".encode())
    await writer.drain()


async def serve(reader, writer):
    first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().splitlines()
    method, target, _ = first.split()
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    if headers.get("proxy-authorization") != "Basic " + CREDENTIALS:
        await answer(writer, target, "407 Proxy Authentication Required")
        writer.close()
        return
    assert method == "CONNECT", first
    host, _, port = target.rpartition(":")
    to_reader, to_writer = await asyncio.open_connection(host, int(port))
    await answer(writer, target, "200 Connection Established")
    await asyncio.gather(pump(reader, to_writer), pump(to_reader, writer))


async def main():
    await (await asyncio.start_server(serve, "127.0.0.1", PORT)).serve_forever()


asyncio.run(main())
