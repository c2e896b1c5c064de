-- Keys of stories that a reader takes for each other are found by their outline, which Baton works
-- out (there is no SQL for it) when a story is added, and for all stories when a database is opened
-- that has none, or whose outlines were made by another rule.

alter table stories add column outline text;

create index stories_by_outline on stories (outline);

-- By which rule a column was made that is worked out from others.
create table derivations (
    of_column text primary key not null,
    rule text not null
) strict;
