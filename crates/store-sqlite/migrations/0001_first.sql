-- Everything that a run leaves behind. What grows with every command is keyed by integers that
-- only grow, so that writing touches the right end of each tree, however long the history is.
-- Times are nanoseconds since 1970 in UTC; ids are 16 bytes, hashes 32.
-- The words of a column are checked with `or`: for a longer list, `in` makes a table at every row.

create table runs (
    number integer primary key autoincrement,
    id blob not null unique check (length(id) = 16),
    version integer not null,
    head blob not null check (length(head) = 32),
    story_key text not null,
    workflow text not null,
    status text not null check (
        status = 'open' or status = 'paused' or status = 'completed' or status = 'cancelled'
    ),
    baton text not null check (
        baton = 'offered' or baton = 'held' or baton = 'parked' or baton = 'loose'
        or baton = 'done'
    ),
    current_agent text,
    started_at integer not null,
    moved_at integer not null,
    -- The whole run, as a decision needs it. Last, because it is long.
    state text not null
) strict;

create index runs_by_story on runs (story_key);
create unique index runs_open_by_story on runs (story_key) where status in ('open', 'paused');
create index runs_open on runs (number) where status in ('open', 'paused');

create table handoffs (
    number integer primary key autoincrement,
    id blob not null unique check (length(id) = 16),
    run_number integer not null references runs (number),
    no integer not null,
    kind text not null check (
        kind = 'sequential' or kind = 'delegation' or kind = 'escalation' or kind = 'return'
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

create unique index handoffs_by_run on handoffs (run_number, no);
create index handoffs_open_by_agent on handoffs (to_agent) where ended_at is null;
-- For the sweeper, which asks often and finds little.
create index handoffs_unmoved on handoffs (coalesce(accepted_at, created_at))
    where ended_at is null and is_stale = 0;

create table events (
    position integer primary key autoincrement,
    run_number integer not null references runs (number),
    version integer not null,
    happened_at integer not null,
    name text not null,
    done_by text not null,
    hash blob not null check (length(hash) = 32),
    body text not null
) strict;

create index events_by_run on events (run_number);

create table contents (
    run_number integer not null references runs (number),
    id blob not null check (length(id) = 32),
    nonce blob not null check (length(nonce) = 16),
    kind text not null check (kind in ('package', 'words')),
    -- Of a package only.
    format text check (
        format = 'json' or format = 'xml' or format = 'yaml' or format = 'markdown'
    ),
    hash blob check (length(hash) = 32),
    text text not null,
    check ((kind = 'package') = (format is not null and hash is not null))
) strict;

create unique index contents_by_run on contents (run_number, id);

create table stories (
    key text primary key not null,
    title text not null,
    description text not null,
    -- JSON lists of texts.
    acceptance text not null,
    depends_on text not null,
    priority integer not null,
    branch text,
    pr_url text,
    created_at integer not null
) strict;

create table definitions (
    hash blob primary key not null check (length(hash) = 32),
    name text not null,
    text text not null
) strict;

create table answered (
    scope text not null,
    key text not null,
    request blob not null check (length(request) = 32),
    answered_at integer not null,
    answer text not null
) strict;

create unique index answered_by_key on answered (scope, key);
create index answered_by_time on answered (answered_at);

create table cursors (
    projector text primary key not null,
    position integer not null
) strict;

create table outbox (
    id integer primary key autoincrement,
    run_number integer not null references runs (number),
    about text not null,
    added_at integer not null
) strict;

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
