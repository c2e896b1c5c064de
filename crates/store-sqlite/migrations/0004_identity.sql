-- Which project this database belongs to, and how far it has been written.

create table identity (
    id integer primary key check (id = 1),
    -- Never changes: copies and backups of a database have it too.
    project blob not null check (length(project) = 16),
    -- Changes with every restore: positions of events are counted anew from there.
    epoch text not null check (length(epoch) = 8),
    -- Counts up about twice a second while something is written. The file `baton.mark` beside the
    -- database has the last one, so a database that is older than that can be told.
    mark integer not null
) strict;

insert into identity (id, project, epoch, mark)
values (1, randomblob(16), lower(hex(randomblob(4))), 0);
