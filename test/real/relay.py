#!/usr/bin/env python3
"""relay.py LISTEN_PORT TARGET_PORT MODEFILE [ROUND_TRIP_MS]: a TCP relay on loopback that simulates a broken link.

The mode file contains "pass", "refuse" (open and new connections are reset) or "hole" (connections are accepted
and kept, nothing is relayed). "pass ROUND_TRIP_MS" delays each byte by half that time, and "pass ROUND_TRIP_MS
BYTES_PER_S" also limits each direction, for all connections together. The argument ROUND_TRIP_MS is the round trip of
"pass" alone. MODEFILE.bytes contains the bytes relayed per direction, at most 0.1 s old: "up N down N".
"""

import asyncio
import os
import socket
import sys

LISTEN_PORT, TARGET_PORT, MODE_FILE = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
ROUND_TRIP_MS = float(sys.argv[4]) if len(sys.argv) > 4 else 0
PERIOD = 0.05  # seconds between two reads of the mode file
BUFFER = 65536  # bytes that the relay reads at once, and that the kernel reads ahead where the rate is limited

mode = "pass"
delay = ROUND_TRIP_MS / 2000  # seconds, in each direction
rate = 0  # bytes per second in each direction; 0: unlimited
free_at = {"up": 0, "down": 0}  # when each direction will have sent what it has accepted
open_connections = set()
relayed = {"up": 0, "down": 0}


async def passable():
    while mode == "hole":
        await asyncio.sleep(PERIOD)


async def sent(size, direction):
    """Waits for this direction's turn. Returns when the last of `size` bytes has been sent."""
    now = asyncio.get_running_loop().time()
    if not rate:
        return now
    free_at[direction] = max(free_at[direction], now) + size / rate
    await asyncio.sleep(free_at[direction] - now)
    return free_at[direction]


async def pump(reader, writer, direction):
    on_the_way = asyncio.Queue(maxsize=64)  # (when it arrives, data)
    delivery = asyncio.create_task(deliver(on_the_way, writer))
    try:
        while data := await reader.read(max(1, rate // 20) if rate else BUFFER):
            await passable()
            relayed[direction] += len(data)
            await on_the_way.put((await sent(len(data), direction) + delay, data))
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


def limit_buffers(pair):
    """A sender soon notices how slow the relay is."""
    for side in pair:
        side.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)


async def serve(reader, writer):
    await passable()
    if mode == "refuse":
        writer.transport.abort()
        return
    try:
        to_reader, to_writer = await asyncio.open_connection("127.0.0.1", TARGET_PORT, limit=BUFFER)
    except OSError:
        writer.transport.abort()
        return
    pair = (writer, to_writer)
    open_connections.add(pair)
    if rate:
        limit_buffers(pair)
    await asyncio.gather(pump(reader, to_writer, "up"), pump(to_reader, writer, "down"))
    open_connections.discard(pair)


def write_counts():
    with open(MODE_FILE + ".bytes.new", "w") as file:
        file.write("up {up} down {down}\n".format(**relayed))
    os.replace(MODE_FILE + ".bytes.new", MODE_FILE + ".bytes")


async def follow_mode():
    global mode, delay, rate
    written = None
    while True:
        try:
            with open(MODE_FILE) as file:
                words = file.read().split() or [mode]
            mode = words[0]
            delay = float(words[1] if len(words) > 1 else ROUND_TRIP_MS) / 2000
            was, rate = rate, int(words[2]) if len(words) > 2 else 0
            if rate and not was:
                for pair in open_connections:
                    limit_buffers(pair)
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
    server = await asyncio.start_server(serve, "127.0.0.1", LISTEN_PORT, limit=BUFFER)
    await asyncio.gather(server.serve_forever(), follow_mode())


asyncio.run(main())
