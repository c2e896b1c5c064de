-- The runs in which something waits for somebody's word, so that an inbox need not read all others.

create table waiting (
    run_number integer primary key references runs (number)
) strict;

insert into waiting
select number from runs
where status in ('open', 'paused')
    and case
        -- A state that cannot be read says nothing; whoever looks at the run reads its events.
        when not json_valid(state) then true
        else baton = 'loose'
            or coalesce(json_array_length(state, '$.blockers'), 0) > 0
            or exists (
                select 1 from json_each(state, '$.handoffs')
                where json_extract(value, '$.gate') is not null
                    or json_extract(value, '$.kind') = 'question'
            )
    end;
