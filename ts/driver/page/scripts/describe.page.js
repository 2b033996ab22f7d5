/** Gives any value as the text of a JSON object {type, value, is_json}; what JSON has no word for is described. */
function describe(root) {
  const most = { nodes: 20_000, depth: 50, text: 200_000 }
  const above = []
  let isJson = true
  let nodes = 0
  let room = most.text
  const said = (text) => {
    isJson = false
    return text
  }
  const cut = (text) => {
    const kept = text.length > room ? said(`${text.slice(0, room)}…`) : text
    room -= kept.length
    return kept
  }
  const tagOf = (element) =>
    `<${element.localName}${element.id ? ` id="${element.id}"` : ''}${element.className && typeof element.className === 'string' ? ` class="${element.className}"` : ''}>`
  const plain = (value) => {
    nodes += 1
    if (nodes > most.nodes || room <= 0) return said('[more than is shown]')
    if (value === null || typeof value === 'boolean') return value
    if (typeof value === 'string') return cut(value)
    if (typeof value === 'number') return Number.isFinite(value) ? value : said(String(value))
    if (typeof value === 'bigint') return said(`${value}n`)
    if (typeof value === 'undefined') return said('undefined')
    if (typeof value === 'symbol') return said(String(value))
    if (typeof value === 'function') return said(`[function ${value.name || 'anonymous'}]`)
    if (above.includes(value)) return said('[circular]')
    if (above.length >= most.depth) return said('[deeper than is shown]')
    above.push(value)
    try {
      return compound(value)
    } catch (error) {
      return said(`[unreadable: ${error}]`)
    } finally {
      above.pop()
    }
  }
  const compound = (value) => {
    if (typeof Node === 'function' && value instanceof Node) {
      return said(value instanceof Element ? tagOf(value) : `[${value.nodeName}]`)
    }
    if (typeof Window === 'function' && value instanceof Window) return said('[window]')
    if (value instanceof Error) return said(cut(value.stack ? String(value.stack) : String(value)))
    if (typeof value.toJSON === 'function') return plain(value.toJSON())
    const isList = Array.isArray(value) || ArrayBuffer.isView(value)
    if (isList && typeof value.length === 'number') return Array.from(value, plain)
    if (value instanceof Map) return said(Array.from(value, ([key, held]) => [plain(key), plain(held)]))
    if (value instanceof Set) return said(Array.from(value, plain))
    if (typeof NodeList === 'function' && (value instanceof NodeList || value instanceof HTMLCollection)) {
      return said(Array.from(value, plain))
    }
    if (value instanceof Promise) return said('[promise]')
    const fields = {}
    for (const key of Object.keys(value)) {
      // JSON leaves these out as well.
      if (value[key] !== undefined && typeof value[key] !== 'function') fields[key] = plain(value[key])
    }
    return fields
  }
  const kind = root === null ? 'null' : Array.isArray(root) ? 'array' : typeof root
  const value = plain(root)
  return JSON.stringify({ type: kind, value, is_json: isJson })
}
