-- The nodes that work on this database, as each says of itself; and the workflow and agent files that
-- all of them use (`baton push`).
create table nodes (
    id uuid primary key,
    name text not null,
    url text not null,
    version text not null,
    started_at bigint not null,
    seen_at bigint not null
) with (fillfactor = 50);

create table pushed_files (
    path text collate "C" primary key,
    hash bytea not null check (octet_length(hash) = 32),
    text text not null
);
