#!/bin/sh
# The YAML handoff's printed handoffs and acknowledgement, as YAML, in the order in which a project meets them.
# Usage: baton serve --listen 127.0.0.1:4180 --no-runner &   then   examples/004.sh http://127.0.0.1:4180
set -eu
url=${1:-http://127.0.0.1:4180}
api="$url/api/v1"

say() { printf '\n# %s\n' "$1"; }
send() { curl -sS -H 'Content-Type: application/yaml' --data-binary @- "$api/documents?run=portal&profile=lenient"; echo; }
post() { curl -sS -H 'Content-Type: application/json' -d "$2" "$api/$1"; echo; }

say 'A story, and its way'
post stories '{ "key": "portal", "title": "A portal for clients" }'
post runs '{ "story": "portal", "workflow": "gated-project" }'

say 'Acknowledge receipt'
send <<'YAML'
acknowledgment:
  received: true
  from: "orchestrator"
  understood:
    task: "Write the user stories of the portal"
    constraints: "None are known"
  questions: []  # or list of clarifications if needed
  starting: true
YAML

say 'Sequential: a person is asked first, since the workflow has a gate there'
send <<'YAML'
handoff:
  from:
    agent: specification
    step: 2
  to:
    agent: architecture
    reason: "Specs validated, moving to design"
  context:
    summary: "User stories defined and validated by client"
    artifacts:
      - path: ".project/02-requirements/user-stories/US-001.md"
YAML
post inbox/portal%2FHO-002/answer '{ "answer": "approve" }'
post handoffs/portal%2FHO-003/accept '{}'

say 'Delegation to a specialist'
send <<'YAML'
handoff:
  from:
    agent: architecture
    step: 3
  to:
    agent: security-check
    reason: "Need security validation before finalization"
  expectations:
    deliverable: "Risk report on proposed architecture"
    constraints:
      - "Focus on authentication and sensitive data"
    success_criteria:
      - "No unaddressed critical risks"
  context:
    summary: "API architecture defined, needs security review"
YAML

say 'Signal problems: the specialist asks, and is answered'
send <<'YAML'
acknowledgment:
  received: true
  understood: partial
  blockers:
    - "Artifact .project/specs/feature.md not found"
    - "Constraint 'quickly' not measurable"
  action: request_clarification
YAML
post handoffs/portal%2FHO-005/answer '{ "answer": "The specification is US-001.md; there is no hurry" }'
post handoffs/portal%2FHO-004/accept '{}'

say 'Return'
send <<'YAML'
handoff:
  from:
    agent: security-check
    step: null  # Not in main workflow
  to:
    agent: architecture
    reason: "Security review completed"
  context:
    summary: "2 risks identified, recommendations provided"
    artifacts:
      - path: ".project/05-quality/security/review-2024-01.md"
    decisions:
      - id: "SEC-001"
        decision: "JWT with refresh token rotation"
        rationale: "Security/UX balance"
YAML

say 'The same handoff in the words of the XML protocol'
curl -sS -H 'Accept: application/xml' "$api/handoffs/portal%2FHO-006/package"
