-- Most handoffs of an agent are offered once and taken once. An index that has only what is offered
-- is written at these two moments, and not at the end too; what an agent has in hand is found by the
-- state, with the agent in that index.
drop index handoffs_open_by_agent;
create index handoffs_offered on handoffs (to_agent, state)
    where state in ('pending', 'clarification');

drop index handoffs_open_by_state;
create index handoffs_open_by_state
    on handoffs (state, is_stale, number, created_at, ended_at, to_agent) where ended_at is null;

-- Of a story it is asked whether it has yet to begin, and how many have been completed. Those at
-- work are in no index, which a run would have to change when it starts.
drop index stories_by_run_status;
create index stories_to_begin on stories (run_status, priority desc, key)
    where run_status is null;
create index stories_completed on stories (run_status) where run_status = 'completed';
