# /// script
# requires-python = ">=3.11"
# ///
"""Compares the working directory and the PYTHONPATH of an Edge app with those of its `execute` job.
Needs EDGE_APP_URL, an app that answers /environment with {"cwd": ..., "PYTHONPATH": ...} of its own process, and
/job-environment with the same of its job, as the job last reported it; such as
jobs: [{name: probe, trigger: 15m, action: {execute: {command: python, cli_args: [/app/report.py]}}}]"""
import json
import os
import urllib.request


def asked(path):
    with urllib.request.urlopen(os.environ["EDGE_APP_URL"].rstrip("/") + path, timeout=60) as response:
        return json.load(response)


app, job = asked("/environment"), asked("/job-environment")
print("the app says where it runs:", "yes" if app["cwd"] and app["PYTHONPATH"] else "no")
print("the job has run:", "yes" if job["cwd"] else "no")
print("the job's working directory:", "as the app's" if job["cwd"] == app["cwd"] else "another")
print("the job's PYTHONPATH:", "as the app's" if job["PYTHONPATH"] == app["PYTHONPATH"] else "another or none")
