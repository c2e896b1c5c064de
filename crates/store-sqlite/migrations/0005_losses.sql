-- Texts that the log names and that no byte could be found of when the database was recovered. What
-- is listed here is known to be missing; what is missing and not listed was taken away since.

create table lost_texts (
    run_number integer not null references runs (number),
    id blob not null check (length(id) = 32),
    primary key (run_number, id)
) strict, without rowid;

-- Numbers that were given and whose rows were not found any more when the data was recovered: the
-- gaps that `baton verify` knows of.
create table lost_numbers (
    counted text not null check (counted = 'runs' or counted = 'handoffs' or counted = 'events'),
    first integer not null,
    last integer not null check (last >= first),
    primary key (counted, first)
) strict, without rowid;
