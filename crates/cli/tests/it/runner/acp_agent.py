"""An agent of the tests that speaks the Agent Client Protocol by hand: it does its work, and ends its turn in
the way of its first argument."""

import json
import os
import signal
import subprocess
import sys
import threading

WAY = sys.argv[1]
AGENT = os.environ["BATON_AGENT"]
STORY = os.environ["STORY_ID"]
# The same in every attempt.
KEPT = os.path.join(os.environ["OUTPUT_DIRECTORY"], "..", "..", "..")
LOCK = threading.Lock()
CANCELLED = threading.Event()
ANSWERS = {}


def send(message):
    with LOCK:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def update(session, what, /, **members):
    send({"method": "session/update",
          "params": {"sessionId": session, "update": {"sessionUpdate": what, **members}}})


def say(session, text):
    for start in range(0, len(text), 40):
        content = {"type": "text", "text": text[start:start + 40]}
        update(session, "agent_message_chunk", content=content)


def note(name, text=""):
    with open(os.path.join(KEPT, f"{name}-{STORY}-{AGENT}"), "a") as file:
        file.write(text + "\n")


def once(name):
    """True the first time."""
    path = os.path.join(KEPT, f"{name}-{STORY}-{AGENT}")
    if os.path.exists(path):
        return False
    note(name)
    return True


def block():
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "packages", f"{AGENT}.json")) as file:
        return file.read().replace("STORY", STORY)


def hand_on(session):
    say(session, f"I am done, and hand on.\n\n```baton\n{block()}\n```\n")


def work(session):
    path = os.path.join(os.getcwd(), "src/app.txt")
    if AGENT != "implementer" or os.path.exists(path):
        return
    thought = {"type": "text", "text": "A greeting is one line."}
    update(session, "agent_thought_chunk", content=thought)
    update(session, "plan", entries=[
        {"content": "Write the greeting", "priority": "high", "status": "in_progress"},
        {"content": "Commit it", "priority": "low", "status": "pending"}])
    update(session, "tool_call", toolCallId="t1", title="Write src/app.txt", kind="edit",
           status="pending", locations=[{"path": path}], rawInput={"file_path": path})
    os.makedirs("src", exist_ok=True)
    with open(path, "w") as file:
        file.write("hello\n")
    update(session, "tool_call_update", toolCallId="t1", status="completed", content=[
        {"type": "diff", "path": path, "oldText": None, "newText": "hello\n"}])
    identity = ["-c", "user.name=agent", "-c", "user.email=agent@localhost"]
    subprocess.run(["git", "add", "-A"], check=True)
    subprocess.run(["git", *identity, "commit", "-q", "-m", "Add the greeting"], check=True)
    update(session, "usage_update", used=1000, size=200000,
           cost={"amount": 0.25, "currency": "USD"})


def ask(session, number, title, kind, path=None):
    """The option that was chosen: its id, or `cancelled`."""
    answered = threading.Event()
    ANSWERS[number] = [answered, None]
    tool = {"toolCallId": f"p{number}", "title": title, "kind": kind,
            "rawInput": {"command": title} if path is None else {"file_path": path}}
    if path is not None:
        tool["locations"] = [{"path": path}]
    send({"id": number, "method": "session/request_permission", "params": {
        "sessionId": session, "toolCall": tool, "options": [
            {"optionId": "always", "name": "Always", "kind": "allow_always"},
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"}]}})
    answered.wait()
    outcome = ANSWERS[number][1]
    chosen = outcome.get("optionId", outcome["outcome"])
    note("chosen", f"{title}: {chosen}")
    return chosen


def prompt(number, session, text):
    note("prompts", text)
    stop = "end_turn"
    if WAY == "refusal":
        say(session, "I will not do this.\n" + block())
        stop = "refusal"
    elif WAY == "max-tokens":
        say(session, "I have only begun")
        stop = "max_tokens"
    elif WAY == "error":
        send({"id": number, "error": {"code": -32603, "message": "Internal error",
                                      "data": {"details": "the model is gone"}}})
        return
    elif WAY == "limited":
        send({"id": number, "error": {"code": -32603, "message": "API Error: 429 too many requests"}})
        return
    elif WAY == "crash":
        say(session, "I am about to")
        os.kill(os.getpid(), signal.SIGSEGV)
        CANCELLED.wait()
    elif WAY == "hang":
        say(session, "I think.")
        CANCELLED.wait()
        note("cancelled")
        stop = "cancelled"
    elif WAY == "huge":
        for _ in range(2000):
            update(session, "agent_message_chunk", content={"type": "text", "text": "x" * 100000})
    elif WAY == "dies-once" and AGENT == "implementer" and once("died"):
        say(session, "I have begun.\n```baton\n{\"not\": \"this\"}\n```\n")
        work(session)
        os.kill(os.getpid(), signal.SIGKILL)
        CANCELLED.wait()
    elif WAY == "slow-once" and AGENT == "implementer" and once("slept"):
        say(session, "I have begun.")
        work(session)
        note("asleep")
        CANCELLED.wait()
    elif WAY == "asks" and AGENT == "implementer":
        chosen = ask(session, 1, "npm publish", "execute")
        say(session, f"Publishing: {chosen}.\n")
        if chosen == "always" or chosen == "yes":
            ask(session, 2, "npm whoami", "execute")
        work(session)
        hand_on(session)
    elif WAY == "edits" and AGENT == "implementer":
        ask(session, 1, "Write src/app.txt", "edit", os.path.join(os.getcwd(), "src/app.txt"))
        ask(session, 2, "Write a start-up file", "edit", "/etc/profile")
        ask(session, 3, "rm -rf /", "execute")
        work(session)
        hand_on(session)
    elif WAY == "garbage":
        for line in ["warning: this is no message", "{\"half\": ", "[]", "null", "\x00\xff",
                     "{\"jsonrpc\": \"2.0\", \"method\": \"no/such\", \"params\": {}}",
                     "{\"jsonrpc\": \"2.0\", \"id\": 99, \"method\": \"fs/read_text_file\", "
                     "\"params\": {\"sessionId\": \"s\", \"path\": \"/etc/passwd\"}}",
                     "{\"jsonrpc\": \"2.0\", \"id\": \"nobody\", \"result\": {}}", "y" * 9000000]:
            with LOCK:
                sys.stdout.write(line + "\n")
                sys.stdout.flush()
        update(session, "no_such_update", what=1)
        update(session, "agent_message_chunk", content="not a block")
        print("and on the other stream", file=sys.stderr)
        work(session)
        hand_on(session)
    else:
        work(session)
        hand_on(session)
    usage = {"totalTokens": 120, "inputTokens": 100, "outputTokens": 20}
    send({"id": number, "result": {"stopReason": stop, "usage": usage}})


def answer(message):
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        note("initialized", json.dumps(message["params"].get("clientCapabilities")))
        send({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": {
            "loadSession": WAY != "forgets"}, "authMethods": []}})
    elif method == "session/new":
        note("sessions", "new")
        send({"id": number, "result": {"sessionId": f"session-{AGENT}"}})
    elif method == "session/load":
        session = message["params"]["sessionId"]
        note("sessions", f"load {session}")
        # What was said in the attempt before.
        say(session, "```baton\n{\"action\": \"create\", \"toAgent\": \"nobody-here\"}\n```\n")
        send({"id": number, "result": {}})
    elif method == "session/prompt":
        text = "".join(it["text"] for it in message["params"]["prompt"])
        arguments = (number, message["params"]["sessionId"], text)
        threading.Thread(target=prompt, args=arguments, daemon=True).start()
    elif method == "session/cancel":
        CANCELLED.set()
    elif method is None and number in ANSWERS:
        answered = ANSWERS[number]
        answered[1] = message.get("result", {}).get("outcome", {"outcome": "error"})
        answered[0].set()


for line in sys.stdin:
    answer(json.loads(line))
