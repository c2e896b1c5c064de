-- The votes of a gate, and those that were passed on, are shown wherever the gate is.
drop index events_shared;
create index events_shared_votes on events (run_number, name)
    where (
        name < 'handoff'
        and (
            name = 'decision.recorded' or name = 'decision.superseded' or name = 'decision.locked'
            or name = 'context.changed' or name = 'gate.opened' or name = 'gate.answered'
            or name = 'gate.approved' or name = 'gate.delegated'
        )
    ) or (
        name > 'message' and name < 'n'
        and (
            name = 'message.asked' or name = 'message.replied' or name = 'message.repeated'
            or name = 'message.unanswered'
        )
    );
