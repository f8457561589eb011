#!/bin/sh
# Makes the databases of a fresh Postgres server and the two roles that own them: one for the orders, one for Temporal, so that
# neither can read or break what is the other's. Passwords come from files and never stand in a command line.
#
# The postgres image runs this once, when its data folder is empty. Anywhere else: set PGHOST, PGUSER and PGPASSWORD of a
# role that may make others, and the two files, and run it; what is there already stays, with its password set anew.
set -eu

: "${ORDERS_PASSWORD_FILE:?Set ORDERS_PASSWORD_FILE to the file with the password of the role paidonce.}"
: "${TEMPORAL_PASSWORD_FILE:?Set TEMPORAL_PASSWORD_FILE to the file with the password of the role temporal.}"

# The image sets POSTGRES_USER; psql would otherwise take the name of the operating system's user.
PGUSER=${PGUSER:-${POSTGRES_USER:-postgres}}
export PGUSER

# psql reads the passwords itself, so that they appear in no list of processes and, quoted by it, cannot end a string.
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname=postgres <<SQL
\\set orders_password \`cat "\$ORDERS_PASSWORD_FILE"\`
\\set temporal_password \`cat "\$TEMPORAL_PASSWORD_FILE"\`
set log_statement = 'none';
set log_min_error_statement = 'panic';

select 'create role ' || name || ' login' from (values ('paidonce'), ('temporal')) as wanted (name)
where not exists (select from pg_roles where rolname = name) \\gexec
alter role paidonce login password :'orders_password';
alter role temporal login password :'temporal_password';

select 'create database ' || name || ' owner ' || owner
from (values ('paidonce', 'paidonce'), ('temporal', 'temporal'), ('temporal_visibility', 'temporal')) as wanted (name, owner)
where not exists (select from pg_database where datname = name) \\gexec

-- Only the owner may even connect.
revoke connect, temporary on database paidonce, temporal, temporal_visibility from public;
SQL
