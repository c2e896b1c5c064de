-- A move of a project's data into this database that has not ended (`baton migrate`): until it has,
-- nothing else opens the database.
create table moving (
    id integer primary key check (id = 1),
    project uuid not null
);

-- What the nodes of this database have in common and show nobody, such as the secret of their runners.
create table secrets (
    name text collate "C" primary key,
    secret bytea not null check (octet_length(secret) = 32)
);
