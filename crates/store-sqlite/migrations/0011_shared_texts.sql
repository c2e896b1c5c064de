-- Texts that come from the files of agents and workflows are the same in every run. They are stored
-- once; what earlier runs have of them stays where it is.
create table shared_texts (
    id blob not null check (length(id) = 32),
    text text not null
) strict;

create unique index shared_texts_by_id on shared_texts (id);
