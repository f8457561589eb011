#!/bin/sh
# Makes the Temporal namespace of paidonce as the code needs it: 30 days of retention and the search attributes that every
# order's start names (workflows/search-attributes.ts). Run it again whenever you like: what is right stays as it is.
#
# Retention is a matter of correctness, not of disk space: for this long Temporal itself refuses a second workflow for an
# order that is over. test/unit/compose.test.ts holds these values against the code.
#
# Reads TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE, and TEMPORAL_TLS… as the Temporal CLI does. TEMPORAL_CLI_PATH names the CLI where
# it is not on the PATH. Not for Temporal Cloud, where namespaces are made by other means: see docs/production.md.
set -eu

RETENTION=720h
SEARCH_ATTRIBUTES='OrderStatus=Keyword Gateway=Keyword NeedsReview=Bool'
WAIT_SECONDS=120

: "${TEMPORAL_ADDRESS:?Set TEMPORAL_ADDRESS to host:port of the Temporal server.}"
: "${TEMPORAL_NAMESPACE:?Set TEMPORAL_NAMESPACE to the name of the namespace to make.}"
cli=${TEMPORAL_CLI_PATH:-temporal}

# Waits until a command succeeds. Its last words tell why, when it never does.
wait_for() {
  what=$1
  shift
  deadline=$(($(date +%s) + WAIT_SECONDS))
  until said=$("$@" 2>&1); do
    if [ "$(date +%s)" -ge "$deadline" ]; then
      echo "create-namespace: $what is not there after $WAIT_SECONDS s: $said" >&2
      exit 1
    fi
    sleep 1
  done
}

type_of() {
  "$cli" operator search-attribute list --namespace "$TEMPORAL_NAMESPACE" | awk -v name="$1" '$1 == name { print $2 }'
}

has_attribute() {
  [ -n "$(type_of "$1")" ]
}

wait_for "the Temporal server at $TEMPORAL_ADDRESS" "$cli" operator cluster health

if "$cli" operator namespace describe --namespace "$TEMPORAL_NAMESPACE" >/dev/null 2>&1; then
  "$cli" operator namespace update --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION" >/dev/null
else
  "$cli" operator namespace create --namespace "$TEMPORAL_NAMESPACE" --retention "$RETENTION" \
    --description 'paidonce: one workflow per order' >/dev/null
fi
# Each part of the server learns of a new namespace a moment later.
wait_for "the namespace $TEMPORAL_NAMESPACE" "$cli" operator search-attribute list --namespace "$TEMPORAL_NAMESPACE"

for attribute in $SEARCH_ATTRIBUTES; do
  name=${attribute%%=*}
  type=${attribute##*=}
  present=$(type_of "$name")
  if [ -z "$present" ]; then
    "$cli" operator search-attribute create --namespace "$TEMPORAL_NAMESPACE" --name "$name" --type "$type" >/dev/null
    wait_for "the search attribute $name" has_attribute "$name"
  elif [ "$present" != "$type" ]; then
    echo "create-namespace: the search attribute $name is of type $present and must be $type; take another namespace." >&2
    exit 1
  fi
done

echo "The namespace $TEMPORAL_NAMESPACE keeps histories for $RETENTION and has the search attributes $SEARCH_ATTRIBUTES."
