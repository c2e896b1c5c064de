#!/bin/sh
# An agent of the tests: does its work, and hands on in the way of its first argument.
set -eu
packages=$(dirname "$0")/packages
prompt=$(cat)

if [ "$BATON_AGENT" = implementer ] && [ ! -e src/app.txt ]; then
    mkdir -p src
    echo hello > src/app.txt
    git add -A
    git -c user.name=agent -c user.email=agent@localhost commit -q -m "Add the greeting"
fi

create() {
    sed "s/STORY/$STORY_ID/" "$packages/$BATON_AGENT.json" |
        curl -sS --fail-with-body -X POST "$DASHBOARD_URL/api/handoffs" \
            -H "Authorization: Bearer $BATON_TOKEN" --data-binary @-
}

block() {
    printf 'I am done, and hand on.\n\n```%s\n' "$1"
    sed "s/STORY/$STORY_ID/" "$packages/$BATON_AGENT.$2"
    printf '\n```\n'
}

case $1 in
    curl) create ;;
    json) block baton json ;;
    yaml) block yaml yaml ;;
    xml) block xml xml ;;
    markdown) sed "s/STORY/$STORY_ID/" "$packages/$BATON_AGENT.md" ;;
    file) sed "s/STORY/$STORY_ID/" "$packages/$BATON_AGENT.md" > "$OUTPUT_DIRECTORY/report.md" ;;
    cli) baton handoff complete "$BATON_HANDOFF" --outcome success --payload "@$packages/$BATON_AGENT.payload" ;;
    nothing) ;;
    hang) sleep 1000 ;;
    flood) head -c 1073741824 /dev/zero | tr '\0' x ;;
    fork) sleep 1000 & echo $! > "$OUTPUT_DIRECTORY/child"; exit 0 ;;
    goes-on) create; echo $$ > "$OUTPUT_DIRECTORY/self"; sleep 1000 ;;
    dies-once)
        if [ ! -e died-once ]; then
            echo unfinished > died-once
            kill -9 $$
        fi
        rm -f died-once
        create
        ;;
    corrected)
        case $prompt in
            *"Your handoff was refused"*) block baton json ;;
            *) printf '```baton\n{"action":"create","storyId":"%s","fromAgent":"%s","toAgent":"nobody-here","payload":{}}\n```\n' "$STORY_ID" "$BATON_AGENT" ;;
        esac
        ;;
    rewrites)
        echo 'touch evil' > tools/agent.sh
        create
        ;;
    environment) env > "$OUTPUT_DIRECTORY/environment"; create ;;
    slow) sleep 2; create ;;
    *) echo "no such way: $1" >&2; exit 2 ;;
esac
