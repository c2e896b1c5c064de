"""An agent that speaks the Agent Client Protocol: it asks for permission, says what it was told, and hands on."""

import json
import os
import sys

PACKAGE = {
    "plan": "1. Write src/app.txt. 2. Check that it greets.", "files_to_modify": ["README.md"],
    "approach": "One file, so that it can be tested alone", "risks": ["A typo in the greeting"],
    "questions_resolved": True,
}


def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def say(session, text):
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}
    send({"method": "session/update", "params": {"sessionId": session, "update": update}})


def ask(session):
    tool = {"toolCallId": "1", "title": "npm publish", "kind": "execute",
            "rawInput": {"command": "npm publish"}}
    options = [{"optionId": it, "name": it, "kind": it} for it in ("allow_once", "reject_once")]
    send({"id": 1, "method": "session/request_permission",
          "params": {"sessionId": session, "toolCall": tool, "options": options}})


prompt = None
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        send({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}})
    elif method == "session/new":
        send({"id": number, "result": {"sessionId": "asking"}})
    elif method == "session/prompt":
        prompt = number
        ask("asking")
    elif method is None and number == 1:
        chosen = message["result"]["outcome"].get("optionId", "none")
        request = {"action": "create", "storyId": os.environ["STORY_ID"], "fromAgent": "analyst",
                   "toAgent": "implementer", "payload": PACKAGE}
        say("asking", f"I was told {chosen}, and go on.\n\n```json\n{json.dumps(request)}\n```\n")
        send({"id": prompt, "result": {"stopReason": "end_turn"}})
