#!/bin/sh
# The pipeline API's printed lines, in the order of its page, against a server that knows nothing yet.
# Usage: baton serve --listen 127.0.0.1:4180 --no-runner &   then   examples/000.sh http://127.0.0.1:4180
set -eu
url=${1:-http://127.0.0.1:4180}

say() { printf '\n# %s\n' "$1"; }
post() { curl -sS -X POST "$url/api/handoffs" -d "$1"; echo; }

say 'Create handoff'
post '{
    "action": "create",
    "storyId": "v0.1:1.1.1",
    "fromAgent": "analyst",
    "toAgent": "implementer",
    "payload": { "plan": "..." }
  }'

say 'Accept handoff'
post '{ "action": "accept", "handoffId": 1 }'

say 'Reject handoff'
post '{
    "action": "reject",
    "handoffId": 1,
    "reason": "Tests failing"
  }'

say 'Timeout stale handoff: the first one is over by now, so the answer says how it ended'
post '{ "action": "timeout", "handoffId": 1 }'

say 'The one that took the work back can still be timed out'
post '{ "action": "timeout", "handoffId": 2 }'

say 'Cleanup all pending for story'
post '{ "action": "cleanup", "storyId": "v0.1:1.1.1" }'

say 'Get state for a story (pipeline view)'
curl -sS "$url/api/handoffs?storyId=v0.1:1.1.1"; echo

say 'Get pending handoff for an agent'
curl -sS "$url/api/handoffs?storyId=v0.1:1.1.1&agent=implementer"; echo

say 'Find stale handoffs (cleanup)'
curl -sS "$url/api/handoffs?stale=true&minutes=30"; echo

say 'Start the next ready story'
curl -sS -X POST "$url/api/run" -d '{ "action": "start" }'; echo
