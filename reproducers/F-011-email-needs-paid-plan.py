# /// script
# requires-python = ">=3.11"
# ///
"""Whether an Edge app can send mail with `sendmail`.
Needs EDGE_APP_URL, an app of an account on the free plan, with `enable_email` asked for in its app.yaml. At a POST to
/sendmail it gives `sendmail` one fixed mail, and answers {"exit": CODE, "output": TEXT} of it."""
import json
import os
import urllib.request

url = os.environ["EDGE_APP_URL"].rstrip("/") + "/sendmail"
with urllib.request.urlopen(urllib.request.Request(url, method="POST"), timeout=60) as response:
    answer = json.load(response)
print("the app ran sendmail")
print("the mail was", "taken" if answer["exit"] == 0 else f"refused, exit {answer['exit']}: {answer['output'].strip()}")
