"""Plain data to YAML text that reads well in a diff, and that `documents.parse` reads back to the same data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

# A block literal keeps tabs and trailing spaces, which PyYAML's emitter would rather escape; what it can't keep is
# any other control character, a carriage return, or one of the line breaks that a YAML reader folds into a newline.
_BLOCKABLE = re.compile(r"[\t\n\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]*")


class _Dumper(yaml.SafeDumper):
    def analyze_scalar(self, scalar: str) -> Any:
        analysis = super().analyze_scalar(scalar)
        if "\n" in scalar and _BLOCKABLE.fullmatch(scalar):
            analysis.allow_block = True
        return analysis

    def determine_block_hints(self, text: str) -> str:
        # Readers take a leading tab for indentation unless they are told how deep the block is.
        hints = str(super().determine_block_hints(text))
        return f"{self.best_indent}{hints}" if text.startswith("\t") else hints


def _represent_text(dumper: yaml.SafeDumper, value: str) -> yaml.Node:
    block = "|" if "\n" in value else None
    style = block if _BLOCKABLE.fullmatch(value) else '"'
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


def _represent_bytes(dumper: yaml.SafeDumper, value: bytes) -> yaml.Node:
    try:
        return _represent_text(dumper, value.decode("utf-8"))
    except UnicodeDecodeError:
        return dumper.represent_binary(value)


_Dumper.add_representer(str, _represent_text)
_Dumper.add_representer(bytes, _represent_bytes)


def dump(data: Mapping[str, Any]) -> str:
    """YAML text that `parse` reads back to the same data: keys in the order given, block text where it can be.

    Bytes that are UTF-8 are written as text, others as `!!binary`.
    """
    return str(
        yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=2**31, default_flow_style=False)
    )
