# Reads the part of cloud-config and meta-data that this guest knows: keys of the first level, with a value or a list.
# Prints `KEY VALUE` for each value, and for each line of one that has several; a list within `runcmd` becomes one quoted
# command, as cloud-init makes it. Of YAML it knows plain and quoted values, block scalars, and lists of both forms.
function trimmed(text) { sub(/^[ \t]+/, "", text); sub(/[ \t]+$/, "", text); return text }
function indent(text) { match(text, /^ */); return RLENGTH }
function isEmpty(text) { return text ~ /^[ \t]*(#.*)?$/ }
function tell(text,   count, parts, i) {
  count = split(text, parts, "\n")
  for (i = 1; i <= count; i++) print key, parts[i]
}
function quoted(text,   count, parts, i, word) {
  # Put together by hand: what gsub makes of a backslash differs from awk to awk.
  count = split(text, parts, "'")
  word = "'" parts[1]
  for (i = 2; i <= count; i++) word = word "'\\''" parts[i]
  return word "'"
}

# --- A value in one line: `flow`, read from the letter `at` on. `kind` says afterwards what it was.

function byte(code) { return sprintf("%c", code) }
function tail(code, factor) { return byte(128 + int(code / factor) % 64) }
function utf8(code) {
  if (code < 128) return byte(code)
  if (code < 2048) return byte(192 + int(code / 64)) tail(code, 1)
  if (code < 65536) return byte(224 + int(code / 4096)) tail(code, 64) tail(code, 1)
  return byte(240 + int(code / 262144)) tail(code, 4096) tail(code, 64) tail(code, 1)
}
function escaped(letter,   digits, i, code) {
  digits = letter == "x" ? 2 : letter == "u" ? 4 : letter == "U" ? 8 : 0
  for (i = 1; i <= digits; i++) code = code * 16 + index("0123456789abcdef", tolower(substr(flow, at + i, 1))) - 1
  at += digits
  if (digits) return utf8(code)
  i = index("ntrea", letter)
  return i ? substr("\n\t\r\033\007", i, 1) : letter
}
function value(level,   mark, letter, text) {
  while (substr(flow, at, 1) ~ /[ \t]/) at++
  mark = substr(flow, at, 1)
  if (mark == "[") return list(level + 1)
  kind = "scalar"
  if (mark != "\"" && mark != "'") {
    for (; at <= length(flow); at++) {
      letter = substr(flow, at, 1)
      if (level && letter ~ /[],]/) break
      text = text letter
    }
    return trimmed(text)
  }
  for (at++; at <= length(flow); at++) {
    letter = substr(flow, at, 1)
    if (letter == mark && (mark == "\"" || substr(flow, at + 1, 1) != "'")) break
    if (letter == mark) at++
    if (letter == "\\" && mark == "\"") { at++; letter = escaped(substr(flow, at, 1)) }
    text = text letter
  }
  at++
  return text
}
# A list is its items, quoted for the shell; those of the outermost stand in `found` as well, as they are.
function list(level,   words, letter, each) {
  for (at++; at <= length(flow);) {
    letter = substr(flow, at, 1)
    at++
    if (letter == "]") break
    if (letter ~ /[ \t,]/) continue
    at--
    each = value(level)
    if (level == 1) found[++count] = each
    words = words (words == "" ? "" : " ") (kind == "list" ? each : quoted(each))
  }
  kind = "list"
  return words
}
function read(text) { flow = text; at = 1; count = 0; return value(0) }

# --- A value over several lines: `here` is the one that it begins in.

# The text with the lines below that are indented deeper, in one line.
function continued(text, depth,   mark, next_) {
  mark = substr(text, 1, 1)
  if (mark !~ /["'[]/) sub(/[ \t]+#.*$/, "", text)
  while (here < last && (isEmpty(line[here + 1]) || indent(line[here + 1]) > depth)) {
    next_ = line[++here]
    if (isEmpty(next_) && mark !~ /["']/) continue
    if (mark !~ /["'[]/) sub(/[ \t]+#.*$/, "", next_)
    text = text " " trimmed(next_)
  }
  return trimmed(text)
}
function isBlock(text) { return text ~ /^[|>][-+0-9]*([ \t]+#.*)?$/ }
# The lines below that are indented deeper, as they are (`|`) or in paragraphs (`>`), with the end that the mark asks for.
function block(mark, depth,   text, raw, inner, between) {
  inner = -1
  while (here < last && (line[here + 1] ~ /^ *$/ || indent(line[here + 1]) > depth)) {
    raw = line[++here]
    if (inner < 0 && raw !~ /^ *$/) inner = indent(raw)
    raw = substr(raw, inner + 1)
    text = text (mark ~ /^>/ && raw != "" && between == " " ? " " : between == "" ? "" : "\n") raw
    between = mark ~ /^>/ && raw != "" ? " " : "\n"
  }
  sub(/\n+$/, "", text)
  return text (mark ~ /-/ ? "" : "\n")
}
function word(text, depth) {
  if (isBlock(text)) return quoted(block(text, depth))
  text = read(continued(text, depth))
  return kind == "list" ? text : quoted(text)
}
# What stands behind a dash at that depth.
function item(text, depth,   inner, words) {
  if (isBlock(text)) return block(text, depth)
  if (text !~ /^-([ \t]|$)/) return read(continued(text, depth))
  # A list below a list: its first item stands behind the dash of the outer one.
  inner = depth + index(substr(line[here], depth + 2), "-")
  words = word(trimmed(substr(text, 2)), inner)
  while (here < last && (isEmpty(line[here + 1]) || line[here + 1] ~ /^ *-([ \t]|$)/ && indent(line[here + 1]) == inner)) {
    if (!isEmpty(line[++here])) words = words " " word(trimmed(substr(line[here], inner + 2)), inner)
  }
  return words
}

{ sub(/\r$/, ""); line[NR] = $0; last = NR }
END {
  for (here = 1; here <= last; here++) {
    text = line[here]
    if (isEmpty(text) || text ~ /^(---|\.\.\.|\{\}[ \t]*$)/) continue
    depth = indent(text)
    if (text ~ /^[A-Za-z_-]+:([ \t]|$)/) {
      key = text; sub(/:.*/, "", key)
      sub(/^[^:]*:/, "", text)
      text = trimmed(text)
      if (isEmpty(text)) continue
      text = item(text, 0)
      if (kind != "list") tell(text)
      else for (i = 1; i <= count; i++) tell(found[i])
      kind = ""
    } else if (text ~ /^ *-([ \t]|$)/) tell(item(trimmed(substr(text, depth + 2)), depth))
    else print "unread", trimmed(text)
  }
}
