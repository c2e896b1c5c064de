-- How complete the package of a handoff was when it was sent, from 0 to 100. Null for handoffs from
-- before, and where the same package goes on.
alter table handoffs add column score integer check (score between 0 and 100);

-- What agents used is a few events among the messages of a run.
create index events_usage on events (run_number) where name = 'usage.recorded';
