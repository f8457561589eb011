import type { Queryable } from './queryable.ts';

const HEADER = `-- The present shape of the database on one page, made from its catalog. Do not edit: write a migration, then run
-- \`npm run schema:dump\`. A test holds this page equal to what the migrations make, and checks that it can be run.`;

/**
 * The shape of the database as runnable SQL, the same on PostgreSQL 15 to 18 and on every machine: tables by name with
 * columns in their order, then what ties them together. Written here because pg_dump does not come with the embedded binaries.
 * @throws Error when the schema holds a kind of object that this page could not show
 */
export async function dumpSchema(database: Queryable): Promise<string> {
  await refuseUnknownObjects(database);
  const parts = [
    HEADER,
    ...(await readTables(database)),
    ...(await readForeignKeys(database)),
    ...(await readIndexes(database)),
    ...(await readFunctions(database)),
    ...(await readTriggers(database)),
  ];
  return `${parts.join('\n\n').replaceAll('public.', '')}\n`;
}

async function refuseUnknownObjects(database: Queryable): Promise<void> {
  const { rows } = await database.query<{ name: string }>(
    `select relname::text as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind not in ('r', 'i')
       or relnamespace = 'public'::regnamespace and relkind = 'r' and (relrowsecurity or relhasrules or relispartition)
     union all
     select attrelid::regclass::text || '.' || attname from pg_attribute join pg_class on pg_class.oid = attrelid
     where relnamespace = 'public'::regnamespace and relkind = 'r' and (attidentity <> '' or attgenerated <> '')
     union all
     select typname::text from pg_type
     where typnamespace = 'public'::regnamespace and typtype in ('e', 'd', 'r', 'm') order by 1`,
  );
  if (rows.length === 0) return;
  throw new Error(`Teach store/schema.ts to show these first: ${rows.map(({ name }) => name).join(', ')}`);
}

async function readTables(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ sql: string }>(
    `select case relation.relpersistence when 'u' then 'create unlogged table ' else 'create table ' end
       || quote_ident(relname) || E' (\\n  ' || (
         select string_agg(line, E',\\n  ' order by place, name collate "C") from (
           select 1000 as place, conname::text as name,
             'constraint ' || quote_ident(conname) || ' ' || pg_get_constraintdef(pg_constraint.oid) as line
           from pg_constraint where conrelid = relation.oid and contype in ('p', 'u', 'c', 'x')
           union all
           select attnum, attname::text,
             quote_ident(attname) || ' ' || format_type(atttypid, atttypmod)
             || case when attnotnull then ' not null' else '' end
             || coalesce(' default ' || pg_get_expr(adbin, adrelid), '')
           from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
           where attrelid = relation.oid and attnum > 0 and not attisdropped) as lines)
       || E'\\n);'
       || coalesce(E'\\ncomment on table ' || quote_ident(relname) || ' is '
         || quote_literal(obj_description(relation.oid, 'pg_class')) || ';', '') as sql
     from pg_class relation
     where relnamespace = 'public'::regnamespace and relkind = 'r'
     order by relname::text collate "C"`,
  );
  return rows.map(({ sql }) => sql);
}

async function readForeignKeys(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ sql: string }>(
    `select 'alter table ' || conrelid::regclass || ' add constraint ' || quote_ident(conname) || E'\\n  '
       || pg_get_constraintdef(oid) || ';' as sql
     from pg_constraint
     where connamespace = 'public'::regnamespace and contype = 'f'
     order by conrelid::regclass::text collate "C", conname::text collate "C"`,
  );
  return rows.map(({ sql }) => sql);
}

/** Those that stand behind a constraint are shown with it. */
async function readIndexes(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ sql: string }>(
    `select pg_get_indexdef(indexrelid) || ';' as sql
     from pg_index join pg_class on pg_class.oid = indexrelid
     where relnamespace = 'public'::regnamespace
       and not exists (select from pg_constraint where conindid = indexrelid and contype in ('p', 'u', 'x'))
     order by indrelid::regclass::text collate "C", relname::text collate "C"`,
  );
  return rows.map(({ sql }) => sql);
}

async function readFunctions(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ sql: string }>(
    `select rtrim(pg_get_functiondef(oid), E'\\n') || ';' as sql
     from pg_proc
     where pronamespace = 'public'::regnamespace and prokind = 'f'
     order by oid::regprocedure::text collate "C"`,
  );
  return rows.map(({ sql }) => sql);
}

async function readTriggers(database: Queryable): Promise<string[]> {
  const { rows } = await database.query<{ sql: string }>(
    `select pg_get_triggerdef(pg_trigger.oid) || ';' as sql
     from pg_trigger join pg_class on pg_class.oid = tgrelid
     where relnamespace = 'public'::regnamespace and not tgisinternal
     order by relname::text collate "C", tgname::text collate "C"`,
  );
  return rows.map(({ sql }) => sql);
}
