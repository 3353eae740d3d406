"""The first draft of a record and its reproducer. Pure; `ledger` writes what this returns."""

from __future__ import annotations

import json
import re
import unicodedata

from feedback_ledger.model import Finding
from feedback_ledger.targets import Target
from feedback_ledger.vocabulary import PLACEHOLDER, Ecosystem

SCHEMA_COMMENT = "# yaml-language-server: $schema=schema.json"


def slug(title: str) -> str:
    """A title as part of a file's name: a few plain words."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain)
    name = ""
    for word in words:
        if len(name) + len(word) > 48:
            break
        name = f"{name}-{word}" if name else word
    return name or "untitled"


def record_text(number: int, title: str, target: str) -> str:
    """A record that says what to write where; it is refused until the person has."""
    return f"""{SCHEMA_COMMENT}
id: F-{number:03d}
title: {json.dumps(title, ensure_ascii=False)}
target: {target}
area: {PLACEHOLDER} a word, such as api, cli or docs
nature: bug            # bug | regression | security | performance | friction | missing | docs
severity: minor        # blocker | major | minor | papercut
status: open           # open | fixed | intended | wontfix | withdrawn
affected: []           # {{introduced: "1.0.0"}}; only releases that were run
summary: |
  {PLACEHOLDER} what happens, in two or three sentences
expected: |
  {PLACEHOLDER} what should happen
actual: |
  {PLACEHOLDER} what happens instead
impact: |
  {PLACEHOLDER} whom it hurts, and how
proposed_fix: |
  {PLACEHOLDER} what a maintainer could do
upstream: {{issue: null, fixed_by: null}}
origin: found
disclosure: public     # public | private
requires: []           # names of requirements and fixtures from the settings
reproducer:
  timeout_s: 60
  signature:
    control:    {{stdout: '^{PLACEHOLDER} a line that proves that the run reached the point it tests'}}
    reproduces: {{stdout: '^{PLACEHOLDER} a line that only the failure prints'}}
    gone:       {{exit: 0, stdout: '^{PLACEHOLDER} a line that only the right behaviour prints'}}
"""


def reproducer_suffix(target: Target) -> str:
    """What the name of its first reproducer ends in: the language in which the target can be used."""
    return ".mjs" if target.ecosystem is Ecosystem.NPM else ".py"


def reproducer_text(target: Target, release: str | None) -> str:
    """A program that runs as it is and says where to go on."""
    if target.ecosystem is Ecosystem.NPM:
        return f"""// /// script
// dependencies = ["{target.package}{f"@{release}" if release else ""}"]
// ///
// What this shows, in a line.

console.log("reached the point under test");
// Do here what fails, and print what happened, one fact a line.
console.log("outcome: not looked at yet");
"""
    needs = ""
    if target.ecosystem is Ecosystem.PYPI:
        needs = f'"{target.package}=={release}"' if release else f'"{target.package}"'
    return f'''# /// script
# requires-python = ">=3.11"
# dependencies = [{needs}]
# ///
"""What this shows, in a line."""

print("reached the point under test")
# Do here what fails, and print what happened, one fact a line.
print("outcome: not looked at yet")
'''


def schema_text() -> str:
    """The JSON Schema of a record, for editors."""
    schema = Finding.model_json_schema()
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = "A finding of a feedback ledger"
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
