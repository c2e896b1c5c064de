-- A handoff that was accepted and then rejected, timed out or cancelled was dealt with at its end:
-- its `processed_at` had been the time of the acceptance.
drop view agent_handoffs;

-- Every handoff in the words of the pipeline API; times are in nanoseconds.
create view listed_handoffs as
select
    handoffs.number,
    runs.story_key,
    handoffs.from_agent,
    handoffs.to_agent,
    case handoffs.state
        when 'clarification' then 'pending'
        when 'parked' then 'accepted'
        when 'completed' then 'accepted'
        when 'superseded' then 'cancelled'
        else handoffs.state
    end as status,
    package.text as payload,
    case when handoffs.state = 'rejected' then ended_reason.text end as rejection_reason,
    handoffs.created_at,
    case
        when handoffs.state = 'completed'
            then coalesce(handoffs.accepted_at, handoffs.ended_at)
        else coalesce(handoffs.ended_at, handoffs.accepted_at)
    end as processed_at
from handoffs
join runs on runs.number = handoffs.run_number
left join contents as package
    on package.run_number = handoffs.run_number and package.id = handoffs.package
left join contents as ended_reason
    on ended_reason.run_number = handoffs.run_number
    and ended_reason.id = handoffs.ended_reason;

-- The pipeline document's table, to the letter, for reading the file with another tool.
create view agent_handoffs (
    id, story_id, from_agent, to_agent, status, payload, rejection_reason, created_at, processed_at
) as
select
    listed.number,
    listed.story_key,
    listed.from_agent,
    listed.to_agent,
    listed.status,
    listed.payload,
    listed.rejection_reason,
    strftime('%Y-%m-%dT%H:%M:%S', listed.created_at / 1000000000, 'unixepoch')
        || format('.%03dZ', listed.created_at / 1000000 % 1000),
    strftime('%Y-%m-%dT%H:%M:%S', listed.processed_at / 1000000000, 'unixepoch')
        || format('.%03dZ', listed.processed_at / 1000000 % 1000)
from listed_handoffs as listed;
