-- Signed statements of what the log was: `baton_wire::checkpoint`.
create table checkpoints (
    number integer primary key autoincrement,
    -- What is signed, as it is printed too.
    text text not null,
    signature blob not null check (length(signature) = 64)
) strict;
