-- For `baton verify`: what no event tells of has a checksum, and every version of a story has a link
-- in a chain. Rows that are there already get theirs in the same transaction (`checksum::fill`).

create table story_log (
    number integer primary key autoincrement,
    key text not null,
    written_at integer not null,
    -- Over the row of the story as it was written.
    story blob not null check (length(story) = 32),
    -- Over the link before this one, and everything else in this row.
    hash blob not null check (length(hash) = 32)
) strict;

alter table answered add column checksum integer;
alter table cursors add column checksum integer;
alter table timers add column checksum integer;
alter table identity add column checksum integer;
