#!/bin/sh
# A printed handoff of the XML handoff (XML) and one of the metadata block (Markdown with its block): through every format and back,
# looked at by the linter, and found in what an agent printed. It needs no project and no server.
# Usage: examples/formats.sh [BATON]
set -eu
baton=${1:-baton}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

say() { printf '\n# %s\n' "$1"; }

cat > review.xml <<'XML'
<handoff>
  <from>reviewer-agent</from>
  <to>fixer-agent</to>
  <pr_url>https://github.com/owner/repo/pull/456</pr_url>
  <pr_number>456</pr_number>
  <issue_number>123</issue_number>
  <review_status>changes_requested</review_status>
  <critical_count>2</critical_count>
  <important_count>3</important_count>
  <suggestion_count>4</suggestion_count>
  <blocking_issues>
    <issue location="src/auth/login.ts:42" severity="critical">SQL injection vulnerability</issue>
    <issue location="src/admin/routes.ts:15" severity="critical">Missing authentication check</issue>
    <issue location="src/auth/token.ts:78" severity="important">Token not invalidated on logout</issue>
  </blocking_issues>
</handoff>
XML

cat > output.md <<'MD'
I could not find out what the endpoint answers, so I stop here.

## Metadata

```json
{
  "agent": "frontend-developer",
  "output_type": "implementation-blocked",
  "timestamp": "2025-12-30T15:45:00Z",
  "feature_directory": ".claude/.output/features/2025-12-30-dashboard",
  "skills_invoked": ["gateway-frontend", "developing-with-tdd"],
  "library_skills_read": [],
  "source_files_verified": ["src/api/dashboard.ts:45-120"],
  "status": "blocked",
  "blocked_reason": "missing_requirements",
  "attempted": [
    "Searched for API specification in docs/",
    "Checked existing endpoint patterns in src/api/",
    "Reviewed Swagger/OpenAPI definitions"
  ],
  "handoff": {
    "next_agent": null,
    "context": "Dashboard metrics API endpoint not documented. Need specification for: response shape, pagination, filtering parameters."
  }
}
```
MD

say 'XML, YAML, JSON, Markdown and XML again: the same document'
"$baton" convert review.xml --to yaml > review.yaml
"$baton" convert review.yaml --to json > review.json
"$baton" convert review.json --to markdown > review.md
"$baton" convert review.md --to xml > again.xml
cmp review.xml again.xml && echo same

say 'By the contract of its edge, and by every rule'
"$baton" lint review.xml

say 'The block in what an agent printed, as YAML'
"$baton" extract output.md --to yaml

say 'Nobody looks at the files that it names here'
"$baton" lint --no-workspace output.md
