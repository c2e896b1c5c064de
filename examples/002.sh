#!/bin/sh
# The printed handoffs of the JSON phases, as they are: they name no feature, so the story is in the
# address. The blocked one stops at a person; another one goes to the agent that resolves it and back.
# Usage: baton serve --listen 127.0.0.1:4180 --no-runner &   then   examples/002.sh http://127.0.0.1:4180
set -eu
url=${1:-http://127.0.0.1:4180}
documents=$(dirname "$0")/documents

say() { printf '\n# %s\n' "$1"; }
start() { curl -sS -X POST "$url/api/v1/runs" -H 'Content-Type: application/json' -d "{ \"story\": \"$1\", \"newStory\": true, \"workflow\": \"feature-phases\" }"; echo; }
send() { curl -sS -X POST "$url/api/v1/documents?story=$1&profile=lenient" -H 'Content-Type: application/json' --data-binary @- | tr '\n' ' '; echo; }

architecture() { send "$1" <<'JSON'
{
  "status": "complete",
  "phase": "architecture",
  "summary": "Designed dashboard using compound component pattern with Zustand for state and TanStack Query for API calls",
  "files_modified": [],
  "artifacts": [".claude/.output/features/user-dashboard_20241213_103000/architecture.md"],
  "verification": {
    "patterns_referenced": true,
    "existing_code_analyzed": true,
    "decisions_documented": true
  },
  "handoff": {
    "next_phase": "implementation",
    "next_agent": "frontend-developer",
    "context": "Dashboard structure: <Dashboard> parent with <Dashboard.Widget> children. Create 3 widgets: ActiveScansWidget, VulnerabilitiesWidget, AssetsWidget. State management: Zustand store at stores/dashboardStore.ts for UI state (layout, filters). Data fetching: TanStack Query hooks in hooks/useDashboardMetrics.ts, hooks/useVulnerabilityMetrics.ts, hooks/useAssetMetrics.ts. Follow existing patterns in sections/insights/metrics/.",
    "blockers": []
  }
}
JSON
}

implementation() { send "$1" <<'JSON'
{
  "status": "complete",
  "phase": "implementation",
  "summary": "Implemented /api/dashboard/metrics endpoint with DynamoDB query optimization and response caching",
  "files_modified": [
    "modules/chariot/backend/pkg/handler/handlers/dashboard/get_metrics.go",
    "modules/chariot/backend/pkg/handler/handlers/dashboard/get_metrics_test.go",
    "modules/chariot/backend/pkg/repository/dashboard_repository.go"
  ],
  "artifacts": [],
  "verification": {
    "tests_passed": true,
    "build_success": true,
    "lint_passed": true,
    "command_output": "go test ./... passed. 5 new tests."
  },
  "handoff": {
    "next_phase": "testing",
    "next_agent": "backend-tester",
    "context": "Handler at pkg/handler/handlers/dashboard/get_metrics.go. Accepts query params: timeRange (7d|30d|90d), metricTypes (scans|vulns|assets). Returns aggregated metrics from DynamoDB. Added unit tests but need more edge case coverage: invalid timeRange, missing auth, empty results. Target 80% coverage.",
    "blockers": []
  }
}
JSON
}

testing() { send "$1" <<'JSON'
{
  "status": "complete",
  "phase": "testing",
  "summary": "Created 15 unit tests and 4 E2E tests, achieved 89% coverage, all tests passing",
  "files_modified": [
    "modules/chariot/ui/src/sections/dashboard/__tests__/Dashboard.test.tsx",
    "modules/chariot/ui/src/sections/dashboard/__tests__/MetricsWidget.test.tsx",
    "modules/chariot/e2e/tests/dashboard.spec.ts"
  ],
  "artifacts": [],
  "verification": {
    "tests_passed": true,
    "build_success": true,
    "coverage_percent": 89,
    "command_output": "Test Suites: 3 passed, 3 total\nTests:       19 passed, 19 total"
  },
  "handoff": {
    "next_phase": "complete",
    "next_agent": null,
    "context": "Feature fully tested. Unit tests cover all widgets, loading states, error handling, and data transformations. E2E tests cover dashboard navigation, widget rendering, and user interactions. No known issues.",
    "blockers": []
  }
}
JSON
}

blocked() { send "$1" < "$documents/blocked.json"; }

say 'A feature: the first agent of the architecture gets it'
start user-dashboard

say 'Architecture → Implementation (Frontend)'
architecture user-dashboard

say 'Implementation → Testing (Backend)'
implementation user-dashboard

say 'Testing → Complete'
testing user-dashboard

say 'Blocked: only a person has the missing requirements'
start metrics-api
architecture metrics-api
blocked metrics-api

say 'What waits for a person, with what was tried'
curl -sS "$url/api/v1/inbox"; echo

say 'The person answers, and the blocked agent works on'
curl -sS -X POST "$url/api/v1/inbox/metrics-api%2FHO-003/answer" -H 'Content-Type: application/json' -d '{ "answer": "continue", "comment": "The response is a page of 50; see docs/metrics.md" }' | tr '\n' ' '; echo

say 'Blocked by a security concern: it goes to the security agent of the domain'
start token-store
architecture token-store
send token-store <<'JSON'
{
  "agent": "frontend-developer",
  "output_type": "implementation-blocked",
  "timestamp": "2025-12-30T15:45:00Z",
  "feature_directory": ".claude/.output/features/token-store",
  "skills_invoked": ["gateway-frontend"],
  "library_skills_read": [],
  "source_files_verified": ["src/auth/token.ts:1-80"],
  "status": "blocked",
  "blocked_reason": "security_concern",
  "attempted": ["Read the design of the token store"],
  "handoff": { "next_agent": null, "context": "The design keeps the token in localStorage, where any script can read it." }
}
JSON

say 'The security agent resolves it, and the work goes back to the blocked agent'
send token-store <<'JSON'
{
  "agent": "frontend-security",
  "output_type": "security-review",
  "timestamp": "2025-12-30T16:20:00Z",
  "feature_directory": ".claude/.output/features/token-store",
  "skills_invoked": ["reviewing-frontend-security"],
  "library_skills_read": [],
  "source_files_verified": ["src/auth/token.ts:1-80"],
  "status": "complete",
  "handoff": { "next_agent": null, "context": "Keep the token in an HttpOnly cookie; the API sets it already." }
}
JSON
