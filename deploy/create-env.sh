#!/bin/sh
# Writes .env for docker-compose.yml with secrets made at random, readable by its owner only. Never changes a file that is there:
# a new password in it would not be the one that the databases were made with.
#
# Usage: sh deploy/create-env.sh [--demo]    --demo names the simulated gateway, which moves no money, as the only one
set -eu
umask 077
file=${ENV_FILE:-.env}

if [ -e "$file" ]; then
  echo "create-env: $file is there already and stays as it is." >&2
  exit 1
fi

# Letters and digits only: the tool that sets up Temporal's databases cannot take every other character.
secret() {
  head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n'
}

gateways=
[ "${1:-}" = --demo ] && gateways='[{"name":"simulator","kind":"simulator","settings":{"url":"http://simulator:9091"}}]'

cat >"$file" <<EOF
# Secrets of this installation. Keep a copy where the backups are kept, and never in version control.
POSTGRES_PASSWORD=$(secret)
ORDERS_DATABASE_PASSWORD=$(secret)
TEMPORAL_DATABASE_PASSWORD=$(secret)
PAYMENT_TOKEN_SECRET=$(secret)
WEBHOOK_MASTER_SECRET=$(secret)
# The gateway accounts as a JSON list on one line, in single quotes; see docs/production.md.
GATEWAYS='$gateways'
EOF
echo "Wrote $file."
