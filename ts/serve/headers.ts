/** What every answer tells browsers: what pages of ours may load, and that nobody else may show or read them. */

/** Scripts, styles and connections of the server itself alone; no page may frame one of ours. */
export const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'content-security-policy': pagePolicy,
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'cache-control': 'no-store',
} as const

/** The answer with those headers, and kept by no cache, unless it says otherwise itself. */
export const secured = (answer: Response): Response => {
  for (const [name, value] of Object.entries(headers)) {
    if (!answer.headers.has(name)) answer.headers.set(name, value)
  }
  return answer
}
