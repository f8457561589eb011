#!/bin/sh
# Brings the two databases of a Temporal server to the schema of this version of its tools. Run it before a server of that version
# starts, the first time and at every upgrade; what is up to date stays as it is. The databases themselves must be there.
set -eu

: "${SQL_HOST:?Set SQL_HOST to the host of the Postgres server.}"
: "${SQL_USER:?Set SQL_USER to the owner of the databases temporal and temporal_visibility.}"
: "${SQL_PASSWORD_FILE:?Set SQL_PASSWORD_FILE to the file with the password of SQL_USER.}"
tool=${TEMPORAL_SQL_TOOL:-temporal-sql-tool}

# The tool reads all of these from its environment; given as parameters, every user of the machine could see the password.
SQL_PLUGIN=postgres12
SQL_PORT=${SQL_PORT:-5432}
SQL_PASSWORD=$(cat "$SQL_PASSWORD_FILE")
export SQL_PLUGIN SQL_HOST SQL_PORT SQL_USER SQL_PASSWORD

for pair in temporal:temporal temporal_visibility:visibility; do
  SQL_DATABASE=${pair%%:*}
  export SQL_DATABASE
  "$tool" setup-schema --version 0.0
  "$tool" update-schema --schema-name "postgresql/v12/${pair##*:}"
done
echo 'The schema of Temporal is up to date.'
