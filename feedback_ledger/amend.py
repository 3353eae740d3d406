"""Changes one field of a record's text and leaves every other character alone. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import yaml

from feedback_ledger.model import Span


def with_affected(text: str, spans: Sequence[Span]) -> str:
    """The record's text with `affected` saying `spans`; comments, order of keys and prose stay as the person wrote
    them.
    """
    written = spans_text(spans)
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert isinstance(root, yaml.MappingNode), "only records that were read without a problem are amended"
    for key, value in root.value:
        if key.value == "affected":
            start = _after_colon(text, key.end_mark.index)
            end = _end(value) if value.end_mark.index > value.start_mark.index else start
            return f"{text[:start]} {written}{text[end:]}"
    status = next(value for key, value in root.value if key.value == "status")
    line_end = text.find("\n", status.end_mark.index)
    return f"{text[: line_end + 1]}affected: {written}\n{text[line_end + 1 :]}"


def _after_colon(text: str, index: int) -> int:
    return text.index(":", index) + 1


def _end(node: yaml.Node) -> int:
    """Where the last character of a value is; the mark of a block's end lies behind comments that follow it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last)
    return int(node.end_mark.index)


def spans_text(spans: Sequence[Span]) -> str:
    """How a record says in which releases a finding shows."""
    written = [
        "{" + ", ".join(f'{name}: "{release}"' for name, release in span.model_dump(exclude_none=True).items()) + "}"
        for span in spans
    ]
    return written[0] if len(written) == 1 else f"[{', '.join(written)}]"
