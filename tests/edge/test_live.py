"""One round trip to the deployed server: WASMER_LIVE=1, EDGE_URL, and EDGE_TOKEN if it asks for tokens."""

from __future__ import annotations

import os
import time

import pytest

from tests.edge.running import ERAS, ask


@pytest.mark.skipif(os.environ.get("WASMER_LIVE") != "1", reason="WASMER_LIVE=1 is not set")
@pytest.mark.skipif(not os.environ.get("EDGE_URL"), reason="EDGE_URL, such as https://my-app.wasmer.app, is not set")
@pytest.mark.parametrize("mode", ERAS)
def test_a_note_goes_to_the_edge_and_back(mode: str) -> None:
    url, token = os.environ.get("EDGE_URL", "").rstrip("/"), os.environ.get("EDGE_TOKEN", "")
    text = f"live check {time.time_ns()}"
    number = ask(url, "store_echo", {"text": text, "tag": "live"}, mode, token)["id"]
    assert ask(url, "get_echo", {"id": number}, mode, token)["text"] == text
    assert ask(url, "get_server_info", {}, mode, token)["database"]["reachable"]
