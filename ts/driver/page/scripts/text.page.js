/** Gives the visible text of the page and of the frames that it may read, as the text of a JSON object. */
function visibleText(given) {
  const { longest } = JSON.parse(given)
  let unread = 0
  const texts = []
  const read = (page) => {
    texts.push(page.body?.innerText ?? page.documentElement?.textContent ?? '')
    for (const frame of page.querySelectorAll('iframe, frame')) {
      if (frame.getClientRects().length === 0) continue
      const inner = frame.contentDocument
      if (inner === null) unread += 1
      else read(inner)
    }
  }
  read(document)
  const whole = texts.filter((text) => text !== '').join('\n\n')
  return JSON.stringify({
    text: whole.slice(0, longest),
    characters: whole.length,
    frames_unread: unread,
    url: location.href,
    title: document.title,
  })
}
