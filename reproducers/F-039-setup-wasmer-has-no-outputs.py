# /// script
# requires-python = ">=3.11"
# dependencies = ["pyyaml==6.0.3"]
# ///
"""Reads which inputs and outputs the setup-wasmer action declares.
Needs SETUP_WASMER_SOURCE, the folder of a checkout of it."""
import os
from pathlib import Path

import yaml

action = yaml.safe_load(Path(os.environ["SETUP_WASMER_SOURCE"], "action.yml").read_text(encoding="utf-8"))
print("action:", action["name"])
print("inputs:", ", ".join(action.get("inputs") or ()) or "none")
print("outputs:", ", ".join(action.get("outputs") or ()) or "none")
