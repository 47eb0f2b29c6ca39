#!/bin/sh
# Brings the gateways of compose.yaml to the image of now, one after the other, without a failed call: nginx is told to leave
# one out, that one ends what it has under way and starts anew, and nginx takes it in again when it is ready.
set -eu
cd "$(dirname "$0")"

compose() { docker compose -f compose.yaml "$@"; }

# Puts `down` behind one gateway in the copy that nginx runs on, or behind none.
leave_out() {
  compose exec -T nginx sh -c "sed 's/server $1:8787.*;/server $1:8787 resolve down;/' /etc/nginx/sluice.conf > /tmp/nginx.conf && nginx -c /tmp/nginx.conf -t -q && nginx -c /tmp/nginx.conf -s reload"
}

trap 'leave_out nobody' EXIT
for gateway in gateway-1 gateway-2 gateway-3; do
  leave_out "$gateway"
  compose up --detach --no-deps --wait --force-recreate "$gateway"
done
