/** Gives the elements that a CSS selector matches, as the text of a JSON object; rectangles in CSS pixels of the viewport. */
function query(given) {
  const { selector, attributes, limit, longest } = JSON.parse(given)
  let matching
  try {
    matching = document.querySelectorAll(selector)
  } catch (error) {
    return JSON.stringify({ invalid: String(error.message) })
  }
  const cut = (text) => (text.length > longest ? `${text.slice(0, longest - 1)}…` : text)
  const attributesOf = (element) => {
    const names = attributes ?? element.getAttributeNames().slice(0, 50)
    return Object.fromEntries(
      names.map((name) => {
        const value = element.getAttribute(name)
        return [name, value === null ? null : cut(value)]
      }),
    )
  }
  const stateOf = (element) => ({
    ...(typeof element.value === 'string' && element.type !== 'password' ? { value: cut(element.value) } : {}),
    ...(typeof element.checked === 'boolean' && /^(checkbox|radio)$/.test(element.type)
      ? { checked: element.checked }
      : {}),
    ...(element.matches(':disabled') ? { disabled: true } : {}),
  })
  const elements = Array.from(matching)
    .slice(0, limit)
    .map((element) => {
      const { x, y, width, height } = element.getBoundingClientRect()
      const isVisible =
        width > 0 && height > 0 && element.checkVisibility({ visibilityProperty: true, opacityProperty: true })
      const isInView = isVisible && x < window.innerWidth && y < window.innerHeight && x + width > 0 && y + height > 0
      return {
        tag: element.localName,
        text: cut((element.innerText ?? element.textContent ?? '').trim()),
        attributes: attributesOf(element),
        ...stateOf(element),
        rect: { x, y, width, height },
        is_visible: isVisible,
        is_in_viewport: isInView,
      }
    })
  return JSON.stringify({ count: matching.length, elements, url: location.href, title: document.title })
}
