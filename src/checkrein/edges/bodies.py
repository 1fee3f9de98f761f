"""Content encodings of bodies, decoded within a cap."""

from __future__ import annotations

import zlib

import zstandard

from checkrein.vocab.errors import ProtocolError

_WINDOW = 128 * 1024 * 1024


class BodyError(ProtocolError):
    """The body cannot be decoded, or not within the cap."""


def decode(body: bytes, encoding: str, cap: int) -> bytes:
    """The body without its content encoding: identity, gzip, deflate or zstd; one, not a chain."""
    name = encoding.strip().lower()
    if name in {"", "identity"}:
        data = body[: cap + 1]
    elif name in {"gzip", "x-gzip"}:
        data = _inflate(body, 31, cap)
    elif name == "deflate":
        # Both the zlib form, which the standard asks for, and the raw form, which some send.
        data = _inflate(body, 15 if _zlib_head(body) else -15, cap)
    elif name == "zstd":
        data = _unpack(body, cap)
    else:
        raise BodyError(f"the content encoding `{encoding[:40]}` is not one of identity, gzip, deflate, zstd")
    if len(data) > cap:
        raise BodyError(f"the body is larger than {cap} bytes")
    return data


def _zlib_head(body: bytes) -> bool:
    return len(body) >= 2 and body[0] & 0x0F == 8 and (body[0] << 8 | body[1]) % 31 == 0


def _inflate(body: bytes, bits: int, cap: int) -> bytes:
    inflater = zlib.decompressobj(bits)
    try:
        data = inflater.decompress(body, cap + 1)
    except zlib.error as error:
        raise BodyError(f"the body is not valid compressed data: {error}") from None
    if len(data) <= cap and (not inflater.eof or inflater.unused_data):
        raise BodyError("the compressed body is cut short, or something stands behind it")
    return data


def _unpack(body: bytes, cap: int) -> bytes:
    unpacker = zstandard.ZstdDecompressor(max_window_size=_WINDOW)
    try:
        with unpacker.stream_reader(body, read_across_frames=True) as reader:
            return reader.read(cap + 1)
    except zstandard.ZstdError as error:
        raise BodyError(f"the body is not valid compressed data: {error}") from None
