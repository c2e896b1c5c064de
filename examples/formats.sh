#!/bin/sh
# A printed handoff of the XML handoff (XML) and one of the metadata block (Markdown with its block): through every format and back,
# looked at by the linter, and found in what an agent printed. It needs no project and no server.
# Usage: examples/formats.sh [BATON]
set -eu
baton=${1:-baton}
documents=$(cd "$(dirname "$0")/documents" && pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

say() { printf '\n# %s\n' "$1"; }

cp "$documents/changes-requested.xml" review.xml

{
  printf 'I could not find out what the endpoint answers, so I stop here.\n\n## Metadata\n\n```json\n'
  cat "$documents/blocked.json"
  printf '```\n'
} > output.md

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

say 'Without a look at the files that it names'
"$baton" lint --no-workspace output.md
