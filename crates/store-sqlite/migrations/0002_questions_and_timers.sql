-- A handoff may be a question, and some things have to happen at a time.

-- SQLite cannot change the check of a column: the table is made anew, with every row under its
-- number, and with the last number that was ever given.
drop view agent_handoffs;

create table handoffs_2 (
    number integer primary key autoincrement,
    id blob not null unique check (length(id) = 16),
    run_number integer not null references runs (number),
    no integer not null,
    kind text not null check (
        kind = 'sequential' or kind = 'delegation' or kind = 'escalation' or kind = 'return'
        or kind = 'question'
    ),
    from_agent text not null,
    from_place text not null,
    to_agent text not null,
    to_place text not null,
    state text not null check (
        state = 'pending' or state = 'clarification' or state = 'accepted' or state = 'parked'
        or state = 'completed' or state = 'rejected' or state = 'timed_out' or state = 'cancelled'
        or state = 'superseded'
    ),
    outcome text check (
        outcome = 'success' or outcome = 'failure' or outcome = 'blocked'
        or outcome = 'needs_review' or outcome = 'needs_clarification' or outcome = 'skipped'
        or outcome = 'unknown'
    ),
    package blob check (length(package) = 32),
    reason blob not null check (length(reason) = 32),
    ended_reason blob check (length(ended_reason) = 32),
    acknowledgement blob check (length(acknowledgement) = 32),
    attempt integer not null,
    follows integer,
    approved_by text,
    -- A JSON list of texts; null where there are none.
    warnings text,
    is_stale integer not null default 0 check (is_stale in (0, 1)),
    created_at integer not null,
    accepted_at integer,
    ended_at integer
) strict;

insert into handoffs_2 select * from handoffs;
delete from sqlite_sequence where name = 'handoffs_2';
insert into sqlite_sequence (name, seq)
    select 'handoffs_2', seq from sqlite_sequence where name = 'handoffs';
drop table handoffs;
alter table handoffs_2 rename to handoffs;

create unique index handoffs_by_run on handoffs (run_number, no);
create index handoffs_open_by_agent on handoffs (to_agent) where ended_at is null;
-- For the sweeper, which asks often and finds little.
create index handoffs_unmoved on handoffs (coalesce(accepted_at, created_at))
    where ended_at is null and is_stale = 0;

-- Seed 000's table, to the letter, for whoever reads the file with another tool.
create view agent_handoffs (
    id, story_id, from_agent, to_agent, status, payload, rejection_reason, created_at, processed_at
) as
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
    end,
    package.text,
    case when handoffs.state = 'rejected' then ended_reason.text end,
    strftime('%Y-%m-%dT%H:%M:%S', handoffs.created_at / 1000000000, 'unixepoch')
        || format('.%03dZ', handoffs.created_at / 1000000 % 1000),
    strftime(
        '%Y-%m-%dT%H:%M:%S',
        coalesce(handoffs.accepted_at, handoffs.ended_at) / 1000000000,
        'unixepoch'
    ) || format('.%03dZ', coalesce(handoffs.accepted_at, handoffs.ended_at) / 1000000 % 1000)
from handoffs
join runs on runs.number = handoffs.run_number
left join contents as package
    on package.run_number = handoffs.run_number and package.id = handoffs.package
left join contents as ended_reason
    on ended_reason.run_number = handoffs.run_number and ended_reason.id = handoffs.ended_reason;

-- What has to happen at a time unless something else does first. A holder's heartbeats move
-- `due_at` many times a second, so the row is short and no index has to be kept up with it.
create table timers (
    run_number integer not null references runs (number),
    no integer not null,
    -- A lease ends, or a handoff that was held back is offered.
    kind text not null check (kind = 'lease' or kind = 'wake'),
    -- Of a lease only: which holding of the handoff it is for, and how long its holder may be silent.
    fence integer,
    seconds integer,
    due_at integer not null,
    primary key (run_number, no),
    check ((kind = 'lease') = (fence is not null and seconds is not null))
) strict, without rowid;
