"""Encoded bodies are decoded whole, within the cap, or refused."""

import gzip
import zlib

import pytest
import zstandard

from checkrein.edges.bodies import BodyError, decode

PLAIN = b'{"model":"m","input":[]}' * 10


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


PACKED = {
    "identity": PLAIN,
    "": PLAIN,
    "gzip": gzip.compress(PLAIN),
    "GZIP ": gzip.compress(PLAIN),
    "deflate": zlib.compress(PLAIN),
    "zstd": zstandard.compress(PLAIN),
}


@pytest.mark.parametrize("encoding", PACKED)
def test_what_harnesses_send_is_read(encoding):
    assert decode(PACKED[encoding], encoding, 10_000) == PLAIN


def test_raw_deflate_is_read():
    assert decode(raw_deflate(PLAIN), "deflate", 10_000) == PLAIN


def test_frames_of_zstd_may_follow_each_other():
    assert decode(zstandard.compress(b"ab") + zstandard.compress(b"cd"), "zstd", 100) == b"abcd"


@pytest.mark.parametrize("encoding", PACKED)
def test_the_cap_holds(encoding):
    with pytest.raises(BodyError, match="larger than 100 bytes"):
        decode(PACKED[encoding], encoding, 100)


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress, zstandard.compress])
def test_a_bomb_is_refused_at_the_cap(pack):
    encoding = {"compress": "deflate"}.get(pack.__name__, "zstd")
    encoding = "gzip" if pack is gzip.compress else encoding if pack is zlib.compress else "zstd"
    with pytest.raises(BodyError, match="larger"):
        decode(pack(bytes(50_000_000)), encoding, 1_000_000)


@pytest.mark.parametrize(
    ("encoding", "body"), [("gzip", b"no"), ("deflate", b"\xff\xff\xff"), ("zstd", b"no"), ("br", b""), ("gzip, zstd", b"")]
)
def test_what_cannot_be_read_is_refused(encoding, body):
    with pytest.raises(BodyError):
        decode(body, encoding, 100)


@pytest.mark.parametrize("change", [lambda body: body[:-4], lambda body: body + b"tail"])
def test_a_cut_or_lengthened_stream_is_refused(change):
    with pytest.raises(BodyError):
        decode(change(gzip.compress(PLAIN)), "gzip", 10_000)
