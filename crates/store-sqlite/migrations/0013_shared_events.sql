-- Decisions, the gates that people answer, the versions of context documents, and questions between
-- agents are few among the messages of a long run: they are found without reading those.
create index events_shared on events (run_number, name)
    where name in ('decision.recorded', 'decision.superseded', 'decision.locked', 'context.changed',
        'message.asked', 'message.replied', 'message.repeated', 'message.unanswered', 'gate.opened',
        'gate.answered');
