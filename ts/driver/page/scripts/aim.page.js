/**
 * Scrolls the first element that a CSS selector matches into view and gives its middle in CSS pixels of the viewport, or
 * the reason why a click there would not meet it. From then on it notes where the mouse goes and what the element gets.
 */
async function aim(given) {
  const { selector, settleMs } = JSON.parse(given)
  let matching
  try {
    matching = document.querySelectorAll(selector)
  } catch (error) {
    return JSON.stringify({ invalid: String(error.message) })
  }
  const element = matching[0]
  if (element === undefined) return JSON.stringify({ count: 0 })
  const found = { count: matching.length, tag: element.localName, text: (element.innerText ?? '').trim().slice(0, 80) }
  const refuse = (reason, facts) => JSON.stringify({ ...found, refused: reason, ...facts })
  const nameOf = (it) =>
    `${it.localName}${it.id ? `#${it.id}` : ''}${typeof it.className === 'string' && it.className ? `.${it.className.trim().split(/\s+/).join('.')}` : ''}`
  if (element.matches(':disabled')) return refuse('is disabled')

  // A text that runs over lines has a box for each, and the middle of all of them may lie beside it.
  const boxOf = () => {
    const box = Array.from(element.getClientRects()).find(({ width, height }) => width > 0 && height > 0)
    return box ?? element.getBoundingClientRect()
  }
  const isInside = ({ x, y, width, height }) =>
    x >= 0 && y >= 0 && x + width <= window.innerWidth && y + height <= window.innerHeight
  if (!element.checkVisibility({ visibilityProperty: true })) return refuse('is not visible')
  if (!isInside(boxOf())) element.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' })

  let box = boxOf()
  for (let waited = 0; waited < settleMs; waited += 16) {
    await new Promise((resolve) => window.setTimeout(resolve, 16))
    const next = boxOf()
    if (next.x === box.x && next.y === box.y && next.width === box.width && next.height === box.height) break
    box = next
  }
  const [left, top] = [Math.max(0, box.x), Math.max(0, box.y)]
  const [right, bottom] = [Math.min(window.innerWidth, box.right), Math.min(window.innerHeight, box.bottom)]
  if (box.width === 0 || box.height === 0) return refuse('has no size')
  if (right <= left || bottom <= top) return refuse('lies outside what the page can scroll to')
  const [x, y] = [(left + right) / 2, (top + bottom) / 2]

  const root = element.getRootNode()
  const met = root.elementFromPoint(x, y)
  const isMet = (it) =>
    it !== null && (it === element || element.contains(it) || it.closest('label')?.control === element)
  if (!isMet(met)) return refuse('is covered', { by: met === null ? 'something outside the page' : nameOf(met) })

  globalThis.backlotAim?.stop()
  const notes = { mouse: null, clicked: false, met: true }
  const note = (event) => {
    if (!event.isTrusted) return
    if (event.type === 'click') notes.clicked ||= isMet(event.composedPath()[0])
    else notes.mouse = { x: event.clientX, y: event.clientY, screen_x: event.screenX, screen_y: event.screenY }
  }
  for (const type of ['mousemove', 'click']) window.addEventListener(type, note, true)
  globalThis.backlotAim = {
    notes: () => ({ ...notes, met: isMet(root.elementFromPoint(x, y)) }),
    stop: () => {
      for (const type of ['mousemove', 'click']) window.removeEventListener(type, note, true)
    },
  }
  return JSON.stringify({
    ...found,
    x,
    y,
    viewport: {
      width: window.innerWidth,
      height: window.innerHeight,
      outer_width: window.outerWidth,
      outer_height: window.outerHeight,
      screen_x: window.screenX,
      screen_y: window.screenY,
      ratio: window.devicePixelRatio,
      // Firefox tells where the page begins on the screen; others tell it with each event of the mouse.
      inner_screen_x: window.mozInnerScreenX ?? null,
      inner_screen_y: window.mozInnerScreenY ?? null,
    },
  })
}
