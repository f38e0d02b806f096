"""Reads the histograms of both tools and gives their quantiles."""

import base64
import math
import zlib

HEADER_BYTES = 40


def decode(document):
    """Buckets of an Assay histogram as a list of (lowest value in ns, width in ns, count), ascending."""
    raw = base64.b64decode(document["hdr_v2"])
    plain = zlib.decompress(raw[8:])
    digits = int.from_bytes(plain[12:16], "big")
    bits = {2: 7, 3: 10}[digits]
    buckets, index, at = [], 0, HEADER_BYTES
    while at < len(plain):
        value, at = _signed(plain, at)
        if value < 0:
            index -= value
            continue
        buckets.append((*_bounds(index, bits), value))
        index += 1
    return buckets


def _signed(plain, at):
    """A zig-zag number of seven bits a byte, the ninth byte whole, and where the next one begins."""
    value = 0
    for place in range(9):
        byte = plain[at]
        at += 1
        value |= (byte if place == 8 else byte & 0x7F) << (7 * place)
        if place == 8 or byte < 0x80:
            break
    return (value >> 1) ^ -(value & 1), at


def _bounds(index, bits):
    if index < 1 << (bits + 1):
        return index, 1
    shift = (index >> bits) - 1
    return (index - (shift << bits)) << shift, 1 << shift


def merge(histograms):
    """Several bucket lists as one."""
    joined = {}
    for buckets in histograms:
        for lowest, width, count in buckets:
            joined[lowest, width] = joined.get((lowest, width), 0) + count
    return [(lowest, width, count) for (lowest, width), count in sorted(joined.items())]


def quantile_ns(buckets, quantile):
    """The value of nearest rank, taken as the middle of its bucket; None when nothing was counted."""
    total = sum(count for _, _, count in buckets)
    rank, below = max(1, math.ceil(quantile * total)), 0
    for lowest, width, count in buckets:
        below += count
        if below >= rank:
            return lowest + (width - 1) / 2
    return None
