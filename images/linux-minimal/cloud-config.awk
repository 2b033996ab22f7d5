# Reads the part of cloud-config and meta-data that this guest knows: plain keys and lists of strings.
# Prints `KEY VALUE` for each value; a list of words within `runcmd` becomes one quoted command.
function plain(text) {
  sub(/^[ \t]+/, "", text); sub(/[ \t]+$/, "", text)
  if (text ~ /^".*"$/ || text ~ /^'.*'$/) text = substr(text, 2, length(text) - 2)
  else sub(/[ \t]+#.*$/, "", text)
  return text
}
function quoted(text,   count, parts, i, line) {
  # Put together by hand: what gsub makes of a backslash differs from awk to awk.
  count = split(text, parts, "'")
  line = "'" parts[1]
  for (i = 2; i <= count; i++) line = line "'\\''" parts[i]
  return line "'"
}
function words(text,   count, parts, i, line) {
  gsub(/^\[|\]$/, "", text)
  count = split(text, parts, /,[ \t]*/)
  for (i = 1; i <= count; i++) line = line (i > 1 ? " " : "") quoted(plain(parts[i]))
  return line
}
/^[ \t]*(#|$|---|\{\}[ \t]*$)/ { next }
/^[A-Za-z_-]+:/ {
  key = $0; sub(/:.*/, "", key)
  value = $0; sub(/^[^:]*:/, "", value)
  value = plain(value)
  if (value != "") print key, value
  next
}
/^[ \t]*- / {
  item = $0; sub(/^[ \t]*- +/, "", item); item = plain(item)
  print key, item ~ /^\[.*\]$/ ? words(item) : item
  next
}
{ print "unread", $0 }
