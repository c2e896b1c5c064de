//! Tables, columns, rules of columns, indexes, views, triggers and functions are those that the
//! migrations make: compared with `schema.txt`, which a test makes, so nothing has to be written here.

use std::collections::BTreeMap;

use baton_store::StoreResult;
use tokio_postgres::Transaction;
use tokio_postgres::types::Type;

use crate::columns::Columns;
use crate::migrate::known_migrations;
use crate::query::{SqlQuery, rows_in};

const EXPECTED: &str = include_str!("schema.txt");

/// What belongs to an extension is another's. Later versions of PostgreSQL list `not null` among the
/// constraints, and name no table in a view of one: both are left out. Fill factors are an operator's.
const OBJECTS: &str = "
with schema as (
    select oid, quote_ident(nspname) || '.' as prefix from pg_namespace
    where nspname = current_schema()
), extended as (
    select classid, objid from pg_depend where deptype = 'e'
), relations as (
    select pg_class.oid, relname::text as name, relkind, relpersistence, relrowsecurity,
        relforcerowsecurity
    from pg_class join schema on relnamespace = schema.oid
    where relkind in ('r', 'p', 'f', 'v', 'm')
        and (pg_class.oid) not in (select objid from extended where classid = 'pg_class'::regclass)
), objects as (
    select case relkind when 'r' then 'table' when 'v' then 'view' else 'table ' || relkind::text end
            as kind, name, name as of_table,
        concat_ws(' ',
            case relpersistence when 'p' then null else 'persistence ' || relpersistence::text end,
            case when relrowsecurity or relforcerowsecurity then 'row security' end,
            case when relkind in ('v', 'm') then pg_get_viewdef(oid) end) as definition
    from relations
    union all
    select 'column', attname::text, name,
        concat_ws(' ', format_type(atttypid, atttypmod),
            case when collname <> 'default' then 'collate ' || collname::text end,
            case when attnotnull then 'not null' end,
            nullif('identity ' || attidentity::text, 'identity '),
            nullif('generated ' || attgenerated::text, 'generated '),
            'default ' || pg_get_expr(adbin, adrelid))
    from pg_attribute join relations on attrelid = relations.oid
        left join pg_collation on pg_collation.oid = attcollation
        left join pg_attrdef on adrelid = attrelid and adnum = attnum
    where attnum > 0 and not attisdropped and relkind <> 'v'
    union all
    select 'constraint', conname::text, name, pg_get_constraintdef(pg_constraint.oid)
    from pg_constraint join relations on conrelid = relations.oid
    where contype <> 'n'
    union all
    select 'index', pg_class.relname::text, name,
        concat_ws(' ', pg_get_indexdef(indexrelid),
            case when not (indisvalid and indisready and indislive) then 'invalid' end)
    from pg_index join relations on indrelid = relations.oid
        join pg_class on pg_class.oid = indexrelid
    union all
    select 'rule', rulename::text, name, concat_ws(' ', pg_get_ruledef(pg_rewrite.oid), ev_enabled)
    from pg_rewrite join relations on ev_class = relations.oid
    where rulename <> '_RETURN'
    union all
    select 'trigger', tgname::text, name, concat_ws(' ', pg_get_triggerdef(pg_trigger.oid), tgenabled)
    from pg_trigger join relations on tgrelid = relations.oid
    where not tgisinternal
    union all
    select 'policy', polname::text, name, polcmd::text
    from pg_policy join relations on polrelid = relations.oid
    union all
    select 'function', proname::text, proname::text,
        concat_ws(' ', pg_get_function_identity_arguments(pg_proc.oid), 'returns',
            pg_get_function_result(pg_proc.oid), lanname, provolatile, prosecdef::text, prosrc)
    from pg_proc join schema on pronamespace = schema.oid
        join pg_language on pg_language.oid = prolang
    where pg_proc.oid not in (select objid from extended where classid = 'pg_proc'::regclass)
)
select kind, of_table, name,
    trim(regexp_replace(replace(replace(definition, prefix, ''), 'listed.', ''), '\\s+', ' ', 'g'))
        as definition
from objects, schema";

/// Its kind, the table that it belongs to, and its name.
type ObjectName = (String, String, String);

/// A line for each object that is missing, changed or added.
pub(super) async fn problems(transaction: &Transaction<'_>) -> StoreResult<Vec<String>> {
    let (expected, actual) = (expected(), objects(transaction).await?);
    let mut lines = Vec::new();
    for (object, definition) in &expected {
        let (kind, table, name) = object;
        match actual.get(object) {
            None => lines.push(format!("the {kind} `{name}` of `{table}` is not there")),
            Some(it) if it != definition => {
                lines.push(format!(
                    "the {kind} `{name}` of `{table}` is not the one that Baton makes"
                ));
            }
            Some(_) => {}
        }
    }
    for (kind, table, name) in actual.keys().filter(|it| !expected.contains_key(*it)) {
        lines.push(format!("the {kind} `{name}` of `{table}` was not made by Baton"));
    }
    Ok(lines)
}

/// The list of what was migrated. Opening the database has compared the text of each migration.
pub(super) async fn migrations(transaction: &Transaction<'_>) -> StoreResult<Vec<String>> {
    let (numbers, names): (Vec<i32>, Vec<&str>) = known_migrations().unzip();
    let sql = "select format('row %s of `schema_migrations` is not a migration of this Baton',
                   coalesce(found.number, known.number)) as line
               from schema_migrations as found
                   full join unnest($1, $2) as known (number, name)
                       on found.number = known.number and found.name = known.name
               where found.number is null or known.number is null";
    let query = SqlQuery::new(sql).with(numbers, Type::INT4_ARRAY).with(names, Type::TEXT_ARRAY);
    let rows = rows_in(transaction, &query).await?;
    rows.iter().map(|row| Columns::of(row, "schema_migrations", "line").get("line")).collect()
}

async fn objects(transaction: &Transaction<'_>) -> StoreResult<BTreeMap<ObjectName, String>> {
    let mut objects = BTreeMap::new();
    for row in &rows_in(transaction, &SqlQuery::new(OBJECTS)).await? {
        let row = Columns::of(row, "pg_class", "name");
        let name = (row.get("kind")?, row.get("of_table")?, row.get("name")?);
        objects.insert(name, row.get("definition")?);
    }
    Ok(objects)
}

/// Lines of `KIND TABLE NAME: DEFINITION`; none of ours has a blank in its name.
fn expected() -> BTreeMap<ObjectName, String> {
    let parsed = EXPECTED.lines().filter_map(|line| {
        let (object, definition) = line.split_once(':')?;
        let mut words = object.splitn(3, ' ').map(str::to_owned);
        let object = (words.next()?, words.next()?, words.next()?);
        Some((object, definition.trim_start().to_owned()))
    });
    parsed.collect()
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use baton_store::Store as _;
    use baton_store_tests::sample::*;
    use baton_test_postgres::TestSchema;
    use expect_test::expect_file;

    use super::*;
    use crate::{PostgresSettings, PostgresStore};

    async fn open(schema: &TestSchema) -> PostgresStore {
        let settings = PostgresSettings::parse(&format!("{}&pool=3", schema.url())).unwrap();
        PostgresStore::open(&settings).await.unwrap()
    }

    #[tokio::test]
    async fn the_expected_schema_is_the_one_that_the_migrations_make() {
        let schema = TestSchema::fresh();
        let store = open(&schema).await;
        let list = async |transaction: &Transaction<'_>| objects(transaction).await;
        let made = store.connections.transaction(list).await.unwrap();
        let mut text = String::new();
        for ((kind, table, name), definition) in made {
            let line = format!("{kind} {table} {name}: {definition}");
            writeln!(text, "{}", line.trim_end()).unwrap();
        }
        expect_file!["schema.txt"].assert_eq(&text);
        store.close().await;
    }

    /// What another program does to the schema, and what is said of it.
    #[tokio::test]
    async fn every_change_of_the_schema_is_found() {
        for (sql, expected) in [
            ("drop view agent_handoffs", "the view `agent_handoffs` of `agent_handoffs` is not there"),
            (
                "create rule lose as on insert to contents do instead nothing",
                "the rule `lose` of `contents` was not made by Baton",
            ),
            (
                "create function lie() returns trigger language plpgsql as
                     'begin new.done_by := ''eve''; return new; end';
                 create trigger lies before insert on events for each row execute function lie()",
                "the trigger `lies` of `events` was not made by Baton",
            ),
            (
                "create or replace view listed_handoffs as
                 select number, story_key, from_agent, to_agent, 'accepted' as status, payload,
                     rejection_reason, created_at, processed_at
                 from (select handoffs.number, ''::text collate \"C\" as story_key, from_agent, to_agent,
                     ''::text as payload, ''::text as rejection_reason, created_at,
                     created_at as processed_at from handoffs) as new",
                "the view `listed_handoffs` of `listed_handoffs` is not the one that Baton makes",
            ),
            (
                "alter table runs drop constraint runs_status_check",
                "the constraint `runs_status_check` of `runs` is not there",
            ),
            (
                "drop index runs_open_by_story",
                "the index `runs_open_by_story` of `runs` is not there",
            ),
            (
                "alter table stories alter column title type varchar(10)",
                "the column `title` of `stories` is not the one that Baton makes",
            ),
            (
                "alter table events alter column done_by drop not null",
                "the column `done_by` of `events` is not the one that Baton makes",
            ),
            (
                "alter table contents set unlogged",
                "the table `contents` of `contents` is not the one that Baton makes",
            ),
            (
                "create or replace function refuse_append(what text) returns integer
                 language plpgsql as 'begin return 1; end'",
                "the function `refuse_append` of `refuse_append` is not the one that Baton makes",
            ),
            (
                "alter table runs enable row level security",
                "the table `runs` of `runs` is not the one that Baton makes",
            ),
            (
                "update schema_migrations set name = 'other' where number = 17",
                "row 17 of `schema_migrations` is not a migration of this Baton",
            ),
        ] {
            let schema = TestSchema::fresh();
            let store = open(&schema).await;
            assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
            schema.sql(sql);
            let problems = store.check().await.unwrap().problems;
            assert!(problems.iter().any(|it| it == expected), "{sql}: {problems:?}");
            store.close().await;
        }
    }

    #[tokio::test]
    async fn what_an_extension_brings_along_and_what_is_tuned_are_no_problems() {
        let schema = TestSchema::fresh();
        let store = open(&schema).await;
        put_all(&store, &tale(1, "s-1")).await;
        schema.sql("alter table runs set (fillfactor = 80, autovacuum_enabled = false)");
        schema.sql("reindex table runs");
        schema.sql(&format!("create extension pg_stat_statements schema {}", schema.name()));
        assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
        store.close().await;
    }
}
