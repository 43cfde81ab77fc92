#!/usr/bin/env python3
"""A cable between two network namespaces that takes its time: makes a network device in each and carries frames from
one to the other, each a fixed time after it came. In the place of tc's netem, which not every kernel has.

    slow_link.py FIRST:DEVICE SECOND:DEVICE MILLISECONDS        (needs root; runs until it is killed)
"""

import collections
import ctypes
import fcntl
import os
import select
import struct
import sys
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000


def open_device(place):
    """A new device in a namespace; what is written to it arrives there."""
    namespace, device = place.split(":")
    with open(f"/run/netns/{namespace}") as of_namespace:
        if ctypes.CDLL(None, use_errno=True).setns(of_namespace.fileno(), CLONE_NEWNET) != 0:
            sys.exit(f"{namespace}: {os.strerror(ctypes.get_errno())}")
    tap = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", device.encode(), IFF_TAP | IFF_NO_PI))
    return tap


def read_all(tap):
    """The frames that wait."""
    while True:
        try:
            yield os.read(tap, 65536)
        except BlockingIOError:
            return


def carry(ends, delay):
    under_way = collections.deque()  # (when due, where to, frame), in order of time
    while True:
        wait = max(0, under_way[0][0] - time.monotonic()) if under_way else None
        for tap in select.select(ends, [], [], wait)[0]:
            other = ends[1 - ends.index(tap)]
            due = time.monotonic() + delay
            under_way.extend((due, other, frame) for frame in read_all(tap))
        while under_way and under_way[0][0] <= time.monotonic():
            _, to, frame = under_way.popleft()
            try:
                os.write(to, frame)
            except OSError:
                pass  # the device is not up yet or its queue is full: frames get lost on cables, too


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.strip())
    ends = [open_device(place) for place in sys.argv[1:3]]
    carry(ends, float(sys.argv[3]) / 1000)


if __name__ == "__main__":
    main()
