#!/bin/sh
# The printed messages of the XML protocol, sent to a server that knows nothing yet: the first one makes
# the run, the last one ends it. The page prints both answers of a review and of a validation; here the
# review asks for changes first, and the validation fails once.
# Usage: baton serve --listen 127.0.0.1:4180 --no-runner &   then   examples/001.sh http://127.0.0.1:4180
set -eu
url=${1:-http://127.0.0.1:4180}
documents=$(dirname "$0")/documents

say() { printf '\n# %s\n' "$1"; }
send() { curl -sS -X POST "$url/api/v1/documents?profile=lenient" -H 'Content-Type: application/xml' --data-binary @-; echo; }

issue() { send <<'XML'
<handoff>
  <from>issue-manager</from>
  <to>prep-agent</to>
  <issue_url>https://github.com/owner/repo/issues/123</issue_url>
  <issue_number>123</issue_number>
  <issue_title>Add user authentication</issue_title>
  <type>feature|bug|enhancement|refactor|chore</type>
  <priority>critical|high|medium|low</priority>
  <summary>Created issue for user authentication feature</summary>
  <requirements>
    <requirement>Users can log in with email/password</requirement>
    <requirement>JWT tokens expire after 1 hour</requirement>
  </requirements>
</handoff>
XML
}

workspace() { send <<'XML'
<handoff>
  <from>prep-agent</from>
  <to>implementer-agent</to>
  <issue_url>https://github.com/owner/repo/issues/123</issue_url>
  <issue_number>123</issue_number>
  <branch>feature/issue-123-user-auth</branch>
  <workspace_path>/path/to/repo-issue-123</workspace_path>
  <workspace_type>worktree|in-place|cloud</workspace_type>
  <port>3100</port>
  <status>ready</status>
  <validation>
    <dependencies>installed</dependencies>
    <build>passing</build>
    <dev_server>verified</dev_server>
  </validation>
</handoff>
XML
}

pull_request() { send <<'XML'
<handoff>
  <from>implementer-agent</from>
  <to>reviewer-agent</to>
  <issue_url>https://github.com/owner/repo/issues/123</issue_url>
  <issue_number>123</issue_number>
  <pr_url>https://github.com/owner/repo/pull/456</pr_url>
  <pr_number>456</pr_number>
  <branch>feature/issue-123-user-auth</branch>
  <summary>Implemented user authentication with JWT tokens</summary>
  <files_changed>12</files_changed>
  <tests_added>24</tests_added>
  <coverage>96%</coverage>
  <commits>
    <commit sha="abc123">feat(auth): add login endpoint</commit>
    <commit sha="def456">feat(auth): add JWT token generation</commit>
  </commits>
</handoff>
XML
}

changes_requested() { send < "$documents/changes-requested.xml"; }

re_review() { send <<'XML'
<handoff>
  <from>fixer-agent</from>
  <to>reviewer-agent</to>
  <pr_url>https://github.com/owner/repo/pull/456</pr_url>
  <pr_number>456</pr_number>
  <issue_number>123</issue_number>
  <status>ready-for-re-review</status>
  <fixes_applied>
    <fix location="src/auth/login.ts:42">Parameterized SQL queries</fix>
    <fix location="src/admin/routes.ts:15">Added authentication middleware</fix>
    <fix location="src/auth/token.ts:78">Token invalidation on logout</fix>
  </fixes_applied>
  <commits_added>3</commits_added>
</handoff>
XML
}

approved() { send <<'XML'
<handoff>
  <from>reviewer-agent</from>
  <to>validator-agent</to>
  <pr_url>https://github.com/owner/repo/pull/456</pr_url>
  <pr_number>456</pr_number>
  <issue_number>123</issue_number>
  <review_status>approved</review_status>
  <critical_count>0</critical_count>
  <important_count>0</important_count>
  <summary>Code review passed with no blocking issues</summary>
</handoff>
XML
}

validation_failed() { send <<'XML'
<handoff>
  <from>validator-agent</from>
  <to>fixer-agent</to>
  <pr_url>https://github.com/owner/repo/pull/456</pr_url>
  <pr_number>456</pr_number>
  <issue_number>123</issue_number>
  <validation_status>failed</validation_status>
  <failures>
    <failure type="test">src/auth/login.test.ts - expected 200, got 401</failure>
    <failure type="lint">src/utils/helpers.ts:15 - unused import</failure>
    <failure type="type_check">src/auth/types.ts:23 - Type mismatch</failure>
  </failures>
</handoff>
XML
}

merged() { send <<'XML'
<handoff>
  <from>validator-agent</from>
  <to>closer-agent</to>
  <pr_url>https://github.com/owner/repo/pull/456</pr_url>
  <pr_number>456</pr_number>
  <issue_number>123</issue_number>
  <merge_status>merged</merge_status>
  <merge_sha>abc123def456</merge_sha>
  <merge_strategy>squash</merge_strategy>
  <validation_summary>
    <tests>passed (156/156)</tests>
    <coverage>94%</coverage>
    <lint>passed</lint>
    <type_check>passed</type_check>
    <security>no vulnerabilities</security>
  </validation_summary>
</handoff>
XML
}

workflow_complete() { send <<'XML'
<workflow-complete>
  <issue_number>123</issue_number>
  <issue_url>https://github.com/owner/repo/issues/123</issue_url>
  <pr_number>456</pr_number>
  <pr_url>https://github.com/owner/repo/pull/456</pr_url>
  <status>completed</status>
  <cycle_time>2 days 4 hours</cycle_time>
  <summary>User authentication implemented with JWT tokens</summary>
  <metrics>
    <review_iterations>2</review_iterations>
    <total_commits>8</total_commits>
    <tests_added>24</tests_added>
    <coverage>94%</coverage>
  </metrics>
  <actions_taken>
    <action>Closing comment posted</action>
    <action>Issue closed</action>
    <action>Branch deleted</action>
    <action>Related issues updated</action>
  </actions_taken>
</workflow-complete>
XML
}

build_error() { send <<'XML'
<handoff>
  <from>implementer-agent</from>
  <to>orchestrator</to>
  <status>failure</status>
  <error>
    <type>BuildError</type>
    <message>TypeScript compilation failed</message>
    <details>Cannot find module '@/auth/types'</details>
    <recoverable>true</recoverable>
    <suggested_action>Check import paths and module resolution</suggested_action>
  </error>
</handoff>
XML
}

say 'Issue Manager → Prep Agent'
issue

say 'Prep Agent → Implementer Agent'
workspace

say 'Error handoff: the work comes back to the orchestrator, which gives it to the implementer again'
build_error
curl -sS -X POST "$url/api/v1/runs" -H 'Content-Type: application/json' -d '{ "story": "owner/repo#123" }'; echo

say 'Implementer Agent → Reviewer Agent'
pull_request

say 'Reviewer Agent → Fixer Agent (Changes Requested)'
changes_requested

say 'Fixer Agent → Reviewer Agent (Re-review)'
re_review

say 'Reviewer Agent → Validator Agent (Approved)'
approved

say 'Validator Agent → Fixer Agent (Validation Failed)'
validation_failed

say 'Fixer Agent → Reviewer Agent (Re-review)'
re_review

say 'Reviewer Agent → Validator Agent (Approved)'
approved

say 'Validator Agent → Closer Agent (Merged)'
merged

say 'Closer Agent → Workflow Complete'
workflow_complete

say 'The completion, counted from the record'
curl -sS "$url/api/v1/runs/owner%2Frepo%23123/completion" -H 'Accept: application/xml'; echo
