-- What is asked at every start, by every command without a server, at every sweep and for the first
-- page of every list must not cost more because more runs are open.

-- When a run has to be looked at because of the time alone. Never later than the rules say, so that
-- few appends have to change it; whoever comes too early says when to come back.
create table due (
    run_number integer primary key references runs (number),
    due_at integer not null,
    -- No event tells when a run was looked at last.
    checksum integer
) strict;

create index due_by_time on due (due_at);

-- Only the workflows know when that is: every open run is looked at once, as soon as can be. The
-- rows get their checksums in the same transaction (`due::fill`).
insert into due (run_number, due_at)
select number, 0 from runs where status in ('open', 'paused');

-- Leases that have ended, and handoffs that may be offered.
create index timers_by_time on timers (due_at);

-- The runs that something keeps from going on.
create table blocked (
    run_number integer primary key references runs (number)
) strict;

insert into blocked
select number from runs
where number in (select run_number from waiting)
    and case
        -- A state that cannot be read says nothing; whoever looks at the run reads its events.
        when not json_valid(state) then true
        else coalesce(json_array_length(state, '$.blockers'), 0) > 0
    end;

-- Open handoffs by their state and number, in the place of an index by their last move. When they
-- were made is in it, so that those that are too young need not be read.
drop index handoffs_unmoved;
create index handoffs_open_by_state
    on handoffs (state, is_stale, number, created_at, ended_at) where ended_at is null;

-- An agent asks for what is offered to it, and may have much else in hand.
drop index handoffs_open_by_agent;
create index handoffs_open_by_agent on handoffs (to_agent, state) where ended_at is null;

-- Open runs by their status and number. The key is in it for those that are named by its end.
drop index runs_open;
create index runs_open on runs (status, number, story_key) where status in ('open', 'paused');

-- What the newest run of a story has come to; null where it never had one.
alter table stories add column run_status text check (
    run_status = 'open' or run_status = 'paused' or run_status = 'completed'
    or run_status = 'cancelled'
);

update stories set run_status = (
    select status from runs where story_key = stories.key order by number desc limit 1
);

create index stories_by_run_status on stories (run_status, priority desc, key);

-- Keys that look alike come in order, of however many there are.
drop index stories_by_outline;
create index stories_by_outline on stories (outline, key);
