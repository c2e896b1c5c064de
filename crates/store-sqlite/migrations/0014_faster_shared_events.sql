-- SQLite sorts the list of an `in` anew for every event that it writes, whether the event is one of
-- them or not: a fifth of the time of a transition. Most events are of a handoff, a run or a step,
-- and these are told by two or three comparisons.
drop index events_shared;
create index events_shared on events (run_number, name)
    where (
        name < 'handoff'
        and (
            name = 'decision.recorded' or name = 'decision.superseded' or name = 'decision.locked'
            or name = 'context.changed' or name = 'gate.opened' or name = 'gate.answered'
        )
    ) or (
        name > 'message' and name < 'n'
        and (
            name = 'message.asked' or name = 'message.replied' or name = 'message.repeated'
            or name = 'message.unanswered'
        )
    );
