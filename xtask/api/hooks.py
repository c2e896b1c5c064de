"""Hooks of schemathesis: real names in most requests, and the statuses of every operation.

SEEDED is the file that seed.py wrote; STATUSES is the file to write.
"""

import atexit
import json
import os
from collections import defaultdict
from itertools import count

import schemathesis

with open(os.environ["SEEDED"]) as file:
    NAMES = json.load(file)

# One request in this many keeps what schemathesis made up.
INVENTED = 4
# One command in this many is not only rehearsed.
SPENDING = 16
calls = count()
statuses = defaultdict(set)


def pool(path, parameter):
    """The names that a parameter of a path may have."""
    if any(it in path for it in ("/decisions/", "/questions/", "/context/")):
        return {"run": NAMES["shared"], "number": [1], "key": ["api-design"]}[parameter]
    if path.endswith("/answer"):
        return NAMES["gate" if "/inbox/" in path else "question"]
    if path.endswith("/completion"):
        return NAMES["finished"]
    if path.endswith(("/complete", "/delegate", "/escalate", "/evidence", "/release", "/template")):
        return NAMES["accepted"]
    if path.endswith(("/accept", "/clarify", "/reject")):
        return NAMES["pending"]
    return {
        "handoff": NAMES["handoff"],
        "run": NAMES["run"],
        "id": NAMES["story" if path.startswith("/api/story") else "run"],
        "key": NAMES["story"],
        "agent": NAMES["agent"],
        "name": NAMES["schema" if path.startswith("/schemas") else "workflow"],
        "code": NAMES["code"],
        # Of no bytes.
        "sha256": ["e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    }[parameter]


@schemathesis.hook
def before_call(context, case, kwargs):
    n = next(calls)
    if n % INVENTED == 0:
        return
    if n % INVENTED == 1 and case.headers:
        case.headers.pop("If-Match", None)
    for parameter in case.path_parameters or {}:
        names = pool(case.path, parameter)
        case.path_parameters[parameter] = names[n % len(names)]
    known = {"run": "run", "story": "story", "storyId": "story", "handoff": "handoff", "agent": "agent"}
    for part in (case.query, case.body):
        if not isinstance(part, dict):
            continue
        if part is case.query and case.path_parameters:
            # The name in the path is whole; the run would have to be that of the handoff.
            part.pop("run", None)
        for member, kind in known.items():
            if member in part:
                part[member] = NAMES[kind][n % len(NAMES[kind])]
        if "handoffId" in part:
            part["handoffId"] = NAMES["number"][n % len(NAMES["number"])]
        if n % INVENTED == 1:
            simplify(part)
    if n % SPENDING != 1:
        spare(case)


def spare(case):
    """Only rehearses a command, so that what there is lasts to the end."""
    if case.method.upper() == "POST" and case.path.startswith("/api/v1/") and case.path_parameters:
        if isinstance(case.query, dict) and not case.path.endswith("/heartbeat"):
            case.query["dryRun"] = True
    if isinstance(case.body, dict) and case.body.get("action") in ("reset", "stop", "cleanup", "timeout"):
        case.body["action"] = "progress" if case.path == "/api/signal" else "continue"


def simplify(part):
    """Leaves out what only narrows a request down, so that more of them are carried out."""
    for member in ("acknowledgement", "agent", "fence", "supersedes", "token", "toAgent", "kind", "workflow"):
        part.pop(member, None)
    if "outcome" in part:
        part |= {"outcome": "success", "profile": "lenient"}


@schemathesis.hook
def after_call(context, case, response):
    # Methods that a path does not have are tried too.
    if case.method.upper() == case.operation.method.upper():
        statuses[f"{case.method} {case.path}"].add(response.status_code)


@atexit.register
def write():
    with open(os.environ["STATUSES"], "w") as file:
        json.dump({name: sorted(seen) for name, seen in statuses.items()}, file)
