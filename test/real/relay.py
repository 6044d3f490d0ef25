#!/usr/bin/env python3
"""relay.py LISTEN_PORT TARGET_PORT MODEFILE [ROUND_TRIP_MS]: a TCP relay on loopback that simulates a broken link.

The mode file contains "pass", "refuse" (open and new connections are reset) or "hole" (connections are accepted
and kept, nothing is relayed). ROUND_TRIP_MS delays each byte by half that time. MODEFILE.bytes contains the bytes
relayed per direction, at most 0.1 s old: "up N down N".
"""

import asyncio
import os
import sys

LISTEN_PORT, TARGET_PORT, MODE_FILE = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
DELAY = float(sys.argv[4]) / 2000 if len(sys.argv) > 4 else 0  # seconds, in each direction
PERIOD = 0.05  # seconds between two reads of the mode file

mode = "pass"
open_connections = set()
relayed = {"up": 0, "down": 0}


async def passable():
    while mode == "hole":
        await asyncio.sleep(PERIOD)


async def pump(reader, writer, direction):
    loop = asyncio.get_running_loop()
    on_the_way = asyncio.Queue(maxsize=64)  # (when it arrives, data)
    delivery = asyncio.create_task(deliver(on_the_way, writer))
    try:
        while data := await reader.read(65536):
            await passable()
            relayed[direction] += len(data)
            await on_the_way.put((loop.time() + DELAY, data))
    except OSError:
        pass
    await on_the_way.put((0, b""))
    await delivery


async def deliver(on_the_way, writer):
    loop = asyncio.get_running_loop()
    failed = False
    while True:
        due, data = await on_the_way.get()
        if not data:
            break
        if failed:
            continue
        if due > loop.time():
            await asyncio.sleep(due - loop.time())
        try:
            writer.write(data)
            await writer.drain()
        except OSError:
            failed = True
    writer.close()


async def serve(reader, writer):
    await passable()
    if mode == "refuse":
        writer.transport.abort()
        return
    try:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", TARGET_PORT)
    except OSError:
        writer.transport.abort()
        return
    pair = (writer, to_writer)
    open_connections.add(pair)
    await asyncio.gather(pump(reader, to_writer, "up"), pump(to_reader, writer, "down"))
    open_connections.discard(pair)


def write_counts():
    with open(MODE_FILE + ".bytes.new", "w") as file:
        file.write("up {up} down {down}\n".format(**relayed))
    os.replace(MODE_FILE + ".bytes.new", MODE_FILE + ".bytes")


async def follow_mode():
    global mode
    written = None
    while True:
        try:
            with open(MODE_FILE) as file:
                mode = file.read().strip() or mode
        except OSError:
            pass
        if mode == "refuse":
            for pair in list(open_connections):
                for side in pair:
                    side.transport.abort()
        if written != relayed:
            written = dict(relayed)
            write_counts()
        await asyncio.sleep(PERIOD)


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", LISTEN_PORT)
    await asyncio.gather(server.serve_forever(), follow_mode())


asyncio.run(main())
