"""Fills a store for schemathesis: runs, handoffs in every state, gates and questions.

Usage: seed.py URL FILE. Writes the names of what there is to FILE, for hooks.py.
"""

import json
import sys
import urllib.error
import urllib.parse
import urllib.request

BASE, FILE = sys.argv[1:]
# Commands that end a handoff are sent too, so that there is more than one of each.
COPIES = 10
STATES = [
    "pending",
    "clarification",
    "accepted",
    "parked",
    "completed",
    "rejected",
    "timed_out",
    "cancelled",
    "superseded",
]
PLAN = {"plan": ["one"], "files_to_modify": [], "approach": "plain", "risks": [], "questions_resolved": True}


def send(method, path, body=None):
    data = None if body is None else json.dumps(body).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(BASE + path, data, headers, method=method)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        sys.exit(f"{method} {path} {body}: {error.code} {error.read().decode()}")


def post(path, body=None):
    return send("POST", "/api/v1" + path, body or {})


def on(handoff, command, **body):
    return post(f"/handoffs/{handoff}/{command}", body)


def items(path):
    listed = []
    after = ""
    while after is not None:
        page = send("GET", f"/api/v1{path}{'&' if '?' in path else '?'}limit=500{after and '&after=' + after}")
        listed += page["items"]
        after = page["next"]
    return listed


def started(story, workflow="story-pipeline"):
    """A run of a new story; the id of its first handoff."""
    post("/stories", {"key": story, "acceptance": ["It works"]})
    done = post("/runs", {"story": story, "workflow": workflow})
    return done["handoff"]["id"]


def accepted(story):
    handoff = started(story)
    on(handoff, "accept", leaseSeconds=3600)
    return handoff


def planned(story):
    """The implementer's pending handoff, of a story whose plan is ready."""
    handoff = accepted(story)
    return on(handoff, "complete", outcome="success", package=PLAN)["handoff"]


def in_state(state, story):
    if state == "pending":
        started(story)
    elif state == "clarification":
        on(planned(story)["id"], "clarify", question="Which one?")
    elif state == "accepted":
        accepted(story)
    elif state == "parked":
        on(accepted(story), "escalate", reason="A person has to decide")
    elif state == "completed":
        planned(story)
    elif state == "rejected":
        on(planned(story)["id"], "reject", reason="Not like this")
    elif state == "timed_out":
        on(started(story), "timeout")
    elif state == "cancelled":
        on(started(story), "cancel")
    elif state == "superseded":
        first = planned(story)
        replaced = {"run": first["runId"], "fromAgent": "analyst", "toAgent": "implementer"}
        post("/handoffs", replaced | {"package": PLAN, "supersedes": first["id"]})


def finished(story):
    """A run that is over, with a decision and a message in it."""
    handoff = started(story)
    post_signal = {"action": "progress", "storyId": story, "message": "Half of it is done"}
    send("POST", "/api/signal", post_signal)
    decided = {"decisions": [{"decision": "Keep it small", "rationale": "It is enough"}]}
    status = "open"
    while status == "open":
        on(handoff, "accept")
        done = on(handoff, "complete", outcome="success", profile="lenient", package=PLAN | decided)
        handoff, status = done["handoff"]["id"], done["run"]["status"]


for n in range(COPIES):
    for state in STATES:
        in_state(state, f"{state}-{n}")
    finished(f"finished-{n}")
    started(f"gated-{n}", "gated-project")
    post("/stories", {"key": f"waiting-{n}"})
    blocked = {"summary": "Blocked", "blockers": [{"description": "No access"}]}
    on(accepted(f"blocked-{n}"), "complete", outcome="blocked", profile="lenient", package=blocked)
    shared = f"/runs/shared-{n}"
    started(f"shared-{n}")
    post(f"{shared}/decisions", {"decision": "Use SQLite", "subject": "storage", "agent": "analyst"})
    post(f"{shared}/questions", {"agent": "implementer", "to": "analyst", "question": "Which one?"})
    send("PUT", f"/api/v1{shared}/context/api-design", {"version": 0, "text": "By path."})
    started(f"paused-{n}")
    post(f"/runs/paused-{n}/pause")

handoffs = items("/handoffs")
found = {it["state"] for it in handoffs}
if missing := set(STATES) - found:
    sys.exit(f"no handoff is {', '.join(sorted(missing))}")
inbox = items("/inbox")
names = {
    "handoff": [it["id"] for it in handoffs],
    "pending": [it["id"] for it in handoffs if it["state"] == "pending" and it["kind"] == "sequential"],
    "accepted": [it["id"] for it in handoffs if it["state"] == "accepted"],
    "question": [it["id"] for it in handoffs if it["kind"] == "question"],
    "gate": [it["handoffId"] for it in inbox if it["handoffId"]],
    "number": [it["number"] for it in handoffs],
    "run": [it["id"] for it in items("/runs")],
    # Runs that have decision 1, question 1 and the document `api-design`.
    "shared": [f"shared-{n}" for n in range(COPIES)],
    "finished": [it["id"] for it in items("/runs?status=completed,cancelled")],
    "story": [it["key"] for it in items("/stories")],
    "agent": [it["agentId"] for it in items("/agents")],
    "workflow": [it["name"] for it in items("/definitions")],
    "schema": send("GET", "/schemas")["schemas"],
    "code": send("GET", "/errors")["items"],
}
if empty := [name for name, pool in names.items() if not pool]:
    sys.exit(f"there is no {', '.join(empty)}")
with open(FILE, "w") as file:
    json.dump(names, file)
print(f"{len(names['run'])} runs, {len(handoffs)} handoffs in {len(found)} states, {len(names['gate'])} gates, {len(names['question'])} questions")
