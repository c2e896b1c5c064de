"""Takes a story from its start to its end with the client that openapi-python-client generates.

Usage: story.py URL
"""

import sys

from baton_client import Client
from baton_client.api.handoffs import (
    accept_handoff,
    answer_question,
    clarify_handoff,
    complete_handoff,
    escalate_work,
    get_handoff,
    get_package,
    list_handoffs,
    reject_handoff,
)
from baton_client.api.inbox import answer_inbox, list_inbox
from baton_client.api.runs import get_run, start_run
from baton_client.api.stories import add_story
from baton_client.models import (
    Acceptance,
    Clarification,
    Committed,
    Completion,
    DryRun,
    Escalation,
    Handoff,
    HandoffState,
    NewStory,
    Outcome,
    PersonsAnswer,
    PersonsWord,
    Problem,
    QuestionAnswer,
    Rejection,
    StartRequest,
)

client = Client(base_url=sys.argv[1])
STORY = "python-story"
PLAN = {"plan": ["one"], "files_to_modify": [], "approach": "plain", "risks": [], "questions_resolved": True}
BUILT = {"build_passes": True, "files_changed": [], "summary": "The parser reads 3 more formats of dates", "tests_added": True, "discoveries": {}}
APPROVED = BUILT | {"approved": True, "review_notes": "Good"}
POLISHED = {"files_changed": [], "refactored": False, "refactor_summary": "The 3 formats share one table already", "discoveries": {}}
WRITTEN = {"learnings_added": 0, "gotchas_added": 0, "docs_updated": True, "notes": "The table of formats is in docs/dates.md"}


def done(response) -> Committed:
    assert isinstance(response.parsed, Committed), response
    assert response.parsed.result == "committed"
    return response.parsed


def offered(handoff) -> Handoff:
    assert isinstance(handoff, Handoff), handoff
    assert handoff.state == HandoffState.PENDING, handoff
    return handoff


def accept(handoff) -> int:
    body = Acceptance(acknowledgement="Understood.", lease_seconds=600)
    fence = done(accept_handoff.sync_detailed(str(offered(handoff).id), client=client, body=body)).fence
    assert isinstance(fence, int)
    return fence


def work(handoff, package) -> Committed:
    """Accepts a handoff, and completes it."""
    fence = accept(handoff)
    body = Completion(outcome=Outcome.SUCCESS, package=package, fence=fence)
    return done(complete_handoff.sync_detailed(str(handoff.id), client=client, body=body))


story = add_story.sync(client=client, body=NewStory(key=STORY, acceptance=["It works"]))
assert story.key == STORY and story.status == "waiting", story
rehearsed = start_run.sync(client=client, body=StartRequest(story=STORY), dry_run=True)
assert isinstance(rehearsed, DryRun) and rehearsed.result == "dry_run", rehearsed
begun = done(start_run.sync_detailed(client=client, body=StartRequest(story=STORY, workflow="story-pipeline")))
run = str(begun.run.id)

# The implementer asks before it begins.
implement = offered(work(begun.handoff, PLAN).handoff)
question = Clarification(question="Which browsers?")
asked = done(clarify_handoff.sync_detailed(str(implement.id), client=client, body=question)).question
body = QuestionAnswer(answer="All of them.")
answered = done(answer_question.sync_detailed(str(asked.id), client=client, body=body))
implement = list_handoffs.sync(client=client, run=run, state=[HandoffState.PENDING]).items[0]
implement = get_handoff.sync(str(implement.id), client=client)
assert implement.questions[0].answer == "All of them.", implement
review = work(Handoff.from_dict(implement.to_dict()), BUILT).handoff

# The reviewer sends it back once.
accept(review)
body = Rejection(reason="The second criterion fails.")
rejected = done(reject_handoff.sync_detailed(str(review.id), client=client, body=body))
review = work(rejected.return_handoff, BUILT).handoff
polish = work(review, APPROVED).handoff

# The refactorer asks a person.
fence = accept(polish)
body = Escalation(reason="Is that worth it?", fence=fence)
done(escalate_work.sync_detailed(str(polish.id), client=client, body=body))
item = next(it for it in list_inbox.sync(client=client).items if it.run.id == begun.run.id)
assert {"approve", "answer"} & {it.choice for it in item.choices}, item.choices
answer = next(it for it in PersonsAnswer if it.value == item.choices[0].choice)
body = PersonsWord(answer=answer, comment="Keep it as it is.")
done(answer_inbox.sync_detailed(str(item.handoff_id), client=client, body=body))
current = get_run.sync(run, client=client)
while current.baton == "offered":
    back = get_handoff.sync(current.current_handoff, client=client, run=run)
    done(accept_handoff.sync_detailed(str(back.id), client=client, body=Acceptance()))
    current = get_run.sync(run, client=client)
held = get_handoff.sync(current.current_handoff, client=client, run=run)
body = Completion(outcome=Outcome.SUCCESS, package=POLISHED, fence=held.fence)
document = done(complete_handoff.sync_detailed(str(held.id), client=client, body=body)).handoff
assert get_package.sync(str(document.id), client=client) == POLISHED

refused = complete_handoff.sync(str(document.id), client=client, body=Completion(outcome=Outcome.UNKNOWN))
assert isinstance(refused, Problem) and refused.code == "unknown_outcome", refused
finished = work(document, WRITTEN)
assert finished.run.status == "completed", finished
print(f"Python: {STORY} is completed after {finished.run.n_handoffs} handoffs")
