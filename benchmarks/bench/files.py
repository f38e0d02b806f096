"""The files that are read: made with random content if they are missing, and held in memory where asked."""

import ctypes
import mmap
import os
import zlib

PIECE_BYTES = 8 << 20


def made(path, size_bytes):
    """A file of random bytes at `path`, written through; an existing one of at least that size is used as it is."""
    if os.path.exists(path) and os.path.getsize(path) >= size_bytes:
        return path
    with open(path, "wb") as file:
        for _ in range(size_bytes // PIECE_BYTES):
            file.write(os.urandom(PIECE_BYTES))
        file.flush()
        os.fsync(file.fileno())
    return path


class Locked:
    """Keeps a file in the page cache as long as it lives: mapped, read and locked in memory."""

    def __init__(self, path):
        self.file = open(path, "rb")
        size = os.path.getsize(path)
        self.map = mmap.mmap(self.file.fileno(), size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        library = ctypes.CDLL(None, use_errno=True)
        address = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        # PROT_WRITE is only there because ctypes wants a writable buffer; a private mapping that is locked
        # while it may be written would be copied, so the right to write goes first.
        if library.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(size), mmap.PROT_READ) != 0:
            raise OSError(ctypes.get_errno(), "mprotect")
        if library.mlock(ctypes.c_void_p(address), ctypes.c_size_t(size)) != 0:
            raise OSError(ctypes.get_errno(), f"mlock of {path}: run as root or raise RLIMIT_MEMLOCK")
        # The memory under a virtual machine is only really there once the processor has touched it.
        for start in range(0, size, PIECE_BYTES):
            zlib.crc32(self.map[start:start + PIECE_BYTES])
