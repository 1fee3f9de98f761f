"""The provider's side: one fixed origin, plain HTTP/1.1 requests, no redirects, no decoding, no credentials of our own."""

from __future__ import annotations

import contextlib
import ipaddress
import os
import ssl
import urllib.request
from collections.abc import AsyncIterator, Iterable
from typing import Self

import aiohttp
from multidict import CIMultiDict
from yarl import URL

from checkrein.turns.exchange import HOP
from checkrein.vocab.errors import NotUsableError

CONNECT_SECONDS = 30
# Shorter than what providers keep idle connections for, so that a request seldom meets a connection that is just closing.
_IDLE_SECONDS = 15
_OURS = HOP | {b"host", b"accept-encoding", b"expect"}
_SKIPPED = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")

Headers = Iterable[tuple[bytes, bytes]]


class UpstreamError(Exception):
    """The provider cannot be reached or was cut off. `str()` is one lower-case clause without any credential."""


def checked(address: str) -> URL:
    """The base URL of a provider: https, or http on loopback; no credentials, query or fragment in it."""
    try:
        url = URL(address.rstrip("/"), encoded=True)
    except ValueError:
        raise NotUsableError(f"the upstream `{address}` is not a URL") from None
    if url.scheme not in {"http", "https"} or not url.host:
        raise NotUsableError(f"the upstream `{address}` is not an http or https URL")
    if url.user or url.password or url.query_string or url.fragment:
        raise NotUsableError(
            "the upstream's URL holds credentials, a query or a fragment", "give only scheme, host, port and path"
        )
    if url.scheme == "http" and not _is_loopback(url.host):
        raise NotUsableError(f"the upstream `{address}` is not encrypted", "use https; plain http is for loopback only")
    return url


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


class Upstream:
    """A pool of connections to one provider."""

    def __init__(self, base: URL) -> None:
        self.base = base
        self._proxy = _proxy(base)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, keepalive_timeout=_IDLE_SECONDS, ssl=_trust() if self.base.scheme == "https" else True
            ),
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            skip_auto_headers=_SKIPPED,
            auto_decompress=False,
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._session is not None
        await self._session.close()

    @contextlib.asynccontextmanager
    async def ask(
        self, method: str, suffix: str, query: bytes, headers: Headers, body: bytes | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Send one request; the response is closed with its connection unless it was read to its end."""
        assert self._session is not None
        text = str(self.base) + suffix + (f"?{query.decode('latin-1')}" if query else "")
        request = self._session.request(
            method, URL(text, encoded=True), data=body, headers=forwarded(headers), allow_redirects=False, proxy=self._proxy
        )
        try:
            response = await request
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            raise UpstreamError(_describe(error)) from error
        try:
            yield response
        finally:
            # Closes the connection if something of the answer is unread, and gives it back to the pool otherwise.
            response.close() if not response.content.is_eof() else response.release()


async def more(content: aiohttp.StreamReader) -> bytes:
    """What has arrived of an answer, at least one byte; nothing at its end."""
    try:
        return await content.readany()
    except (aiohttp.ClientError, OSError) as error:
        raise UpstreamError(_describe(error)) from error


def _describe(error: BaseException) -> str:
    """One clause about a failure, without addresses that may hold a secret."""
    match error:
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return "the provider's certificate is not trusted, or TLS failed"
        case aiohttp.ClientConnectorDNSError():
            return "the provider's name is not known"
        case aiohttp.ClientConnectorError():
            return f"the provider cannot be reached ({error.os_error.strerror or 'connection failed'})"
        case TimeoutError():
            return "the provider did not accept the connection in time"
        case aiohttp.ServerDisconnectedError():
            return "the provider closed the connection without an answer"
        case aiohttp.ClientPayloadError():
            return "the provider's answer was cut off"
        case _:
            return f"the connection to the provider failed ({type(error).__name__})"


def forwarded(headers: Headers) -> CIMultiDict[str]:
    """The client's headers as they go on: all but those of the connection, and no encoding asked for."""
    given = [(name.lower(), value) for name, value in headers]
    named = {token.strip().lower() for name, value in given if name == b"connection" for token in value.split(b",")}
    kept: CIMultiDict[str] = CIMultiDict()
    for name, value in given:
        if name not in _OURS and name not in named:
            kept.add(name.decode("latin-1"), value.decode("latin-1"))
    kept["accept-encoding"] = "identity"
    return kept


def _proxy(base: URL) -> str | None:
    """The proxy that the environment names for this origin. A .netrc is not read: we add no credentials."""
    assert base.host is not None
    if urllib.request.proxy_bypass(base.host) or _is_loopback(base.host):
        return None
    return urllib.request.getproxies().get(base.scheme)


def _trust() -> ssl.SSLContext:
    context = ssl.create_default_context()
    if extra := os.environ.get("CODEX_CA_CERTIFICATE"):
        try:
            context.load_verify_locations(extra)
        except (OSError, ssl.SSLError) as error:
            raise NotUsableError(f"the certificates of `CODEX_CA_CERTIFICATE` cannot be read: {error}") from None
    return context
