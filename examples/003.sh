#!/bin/sh
# A product idea on its way to a review, each handoff with who, to whom, when and why. The architect is
# less sure than 0.7, so a person approves its work before it goes on.
# Usage: baton serve --listen 127.0.0.1:4180 --no-runner &   then   examples/003.sh http://127.0.0.1:4180
set -eu
url=${1:-http://127.0.0.1:4180}
json='Content-Type: application/json'

say() { printf '\n# %s\n' "$1"; }
# The package comes back as it was sent, so an answer may have several lines: here it has one.
post() { curl -sS -X POST "$url$1" -H "$json" -d "$2" | tr '\n' ' '; echo; }
hand() { post /api/v1/handoffs "{ \"run\": \"sessions\", \"fromAgent\": \"$1\", \"toAgent\": \"$2\", \"profile\": \"lenient\", \"package\": $3 }"; }

say 'An idea'
post /api/v1/runs '{ "story": "sessions", "newStory": true, "workflow": "bmad-delivery" }'

say 'The product manager is sure enough'
hand product-manager architect '{
  "summary": "Members can see where they are signed in and end any of those sessions",
  "requirements": ["A member sees each session with device and last use", "An ended session is refused within 5 seconds"],
  "decisions": [{ "id": "PM-1", "decision": "Administrators do not see sessions of members", "rationale": "It needs a privacy review of its own" }],
  "confidence": 0.85,
  "reasoning": "Two support requests of this month name the same need"
}'

say 'The architect is not: a person is asked'
hand architect developer '{
  "summary": "Revocations go to every node over the message bus",
  "decisions": [{ "id": "ARCH-1", "decision": "Use the message bus for revocations", "rationale": "It is there already", "alternatives": ["poll every second"] }],
  "confidence": 0.62,
  "reasoning": "The bus has not been measured with 30 nodes"
}'
curl -sS "$url/api/v1/inbox"; echo
post /api/v1/inbox/sessions%2FHO-003/answer '{ "answer": "approve", "comment": "We measured it last week: 40 ms" }'

say 'The developer builds it, and the reviewer approves'
hand developer reviewer '{
  "summary": "Members see their sessions and end them; revocations reach every node within 2 seconds",
  "files_changed": ["src/sessions/view.rs", "src/sessions/revoke.rs"],
  "tests_added": 12,
  "build_passes": true,
  "confidence": 0.8,
  "reasoning": "All 226 tests pass"
}'
hand reviewer orchestrator '{ "approved": true, "review_notes": "Both requirements are met and tested" }'

say 'Who handed what to whom, when and why'
curl -sS "$url/api/v1/workflows/sessions/handoffs?page=1&pageSize=20"; echo

say 'Who decided what, and why'
curl -sS "$url/api/v1/runs/sessions/decisions"; echo
