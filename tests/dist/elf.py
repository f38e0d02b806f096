"""Reads from an ELF file which shared libraries and which versions of their symbols it asks for."""

import struct
from dataclasses import dataclass

SECTION_DYNAMIC = 6
SECTION_VERSIONS_NEEDED = 0x6FFFFFFE
TAG_NEEDED = 1


@dataclass(frozen=True)
class Section:
    """One row of the table of sections: kind, where it lies, and the section it refers to."""

    kind: int
    offset: int
    size: int
    link: int
    entries: int


class Elf:
    """A 64-bit little-endian ELF file; anything else is a ValueError."""

    def __init__(self, data: bytes) -> None:
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("not a 64-bit little-endian ELF file")
        self._data = data
        self._machine = struct.unpack_from("<H", data, 18)[0]
        offset = struct.unpack_from("<Q", data, 0x28)[0]
        size, count = struct.unpack_from("<HH", data, 0x3A)
        self._sections = [self._section(offset + size * index) for index in range(count)]

    def machine(self) -> str:
        """The processor that it is for, as the kernel calls it; else its number."""
        return {62: "x86_64", 183: "aarch64"}.get(self._machine, str(self._machine))

    def _section(self, offset: int) -> Section:
        row = struct.unpack_from("<IIQQQQIIQQ", self._data, offset)
        return Section(kind=row[1], offset=row[4], size=row[5], link=row[6], entries=row[7])

    def _of_kind(self, kind: int) -> "list[Section]":
        return [section for section in self._sections if section.kind == kind]

    def _string(self, section: Section, offset: int) -> str:
        start = self._sections[section.link].offset + offset
        return self._data[start : self._data.index(b"\0", start)].decode()

    def libraries(self) -> "set[str]":
        """The shared libraries it cannot start without."""
        found = set()
        for section in self._of_kind(SECTION_DYNAMIC):
            for at in range(section.offset, section.offset + section.size, 16):
                tag, value = struct.unpack_from("<QQ", self._data, at)
                if tag == TAG_NEEDED:
                    found.add(self._string(section, value))
        return found

    def versions(self) -> "set[str]":
        """The versions of symbols it asks for, such as GLIBC_2.17."""
        found = set()
        for section in self._of_kind(SECTION_VERSIONS_NEEDED):
            at = section.offset
            for _ in range(section.entries):
                _, names, _, first, following = struct.unpack_from("<HHIII", self._data, at)
                found.update(self._names(section, at + first, names))
                at += following
        return found

    def _names(self, section: Section, at: int, count: int) -> "set[str]":
        found = set()
        for _ in range(count):
            name, following = struct.unpack_from("<II", self._data, at + 8)
            found.add(self._string(section, name))
            at += following
        return found


def newest_glibc(versions: "set[str]") -> "tuple[int, ...]":
    """The newest numbered version of glibc among the versions; (0,) if there is none."""
    numbers = [name[len("GLIBC_") :] for name in versions if name.startswith("GLIBC_2")]
    return max((tuple(int(part) for part in number.split(".")) for number in numbers), default=(0,))
