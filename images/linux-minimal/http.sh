#!/bin/sh
# Answers one HTTP request on standard input: `GET /status`, and nothing else. Clients wait for it; `server` says that no
# computer server is behind it.
carriage=$(printf '\r')
read -r method path _
while read -r header && [ "$header" != "$carriage" ] && [ -n "$header" ]; do :; done
case "$method ${path%%\?*}" in
  'GET /status' | 'HEAD /status') code='200 OK' body='{"status":"ok","os_type":"linux","features":[],"server":"none"}' ;;
  *) code='404 Not Found' body='{"detail":"This guest answers GET /status only."}' ;;
esac
printf 'HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\nConnection: close\r\n\r\n' "$code" "${#body}"
[ "$method" = HEAD ] || printf '%s' "$body"
