"""Every spelling of a peer has the class of the peer that a client would reach."""

from __future__ import annotations

from typing import Any

import pytest
from casefiles import rows
from hypothesis import given
from hypothesis import strategies as st

from checkrein.classify.net import classify
from checkrein.vocab.effects import Net


@pytest.mark.parametrize("case", rows("calls", "peers"))
def test_a_peer_has_its_class(case: dict[str, Any]) -> None:
    peer = classify(case["text"], unresolved=case.get("unresolved", False))
    assert peer.net is Net(case["net"])
    assert peer.host == case.get("host", peer.host)


def test_every_class_is_reached_by_a_case() -> None:
    assert {Net(row.values[0]["net"]) for row in rows("calls", "peers")} == set(Net)


@given(st.integers(0, 0xFFFFFFFF), st.sampled_from(["{}", "0x{:x}", "0{:o}", "parts", "octal", "mapped"]))
def test_a_number_in_any_base_is_the_same_address(number: int, form: str) -> None:
    octets = number.to_bytes(4, "big")
    plain = ".".join(str(octet) for octet in octets)
    spelled = {
        "parts": ".".join(hex(octet) for octet in octets),
        "octal": ".".join(f"0{octet:o}" for octet in octets),
        "mapped": f"[::ffff:{plain}]",
    }.get(form, form.format(number))
    assert classify(f"http://{spelled}/x") == classify(f"http://{plain}/x")


@given(st.text(max_size=60))
def test_no_text_raises(text: str) -> None:
    assert classify(text).net in set(Net)
    assert classify(f"http://{text}/", unresolved=True).net in set(Net)
