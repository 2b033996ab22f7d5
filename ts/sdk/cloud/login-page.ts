/** What the browser shows when the person has signed in, or not. */

const escaped = (text: string): string =>
  text.replace(/[&<>"]/g, (each) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[each] ?? each)

const render = (title: string, text: string): string => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escaped(title)}</title>
<style>
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { display: grid; min-height: 90vh; place-content: center; max-width: 32rem; margin: auto; padding: 1rem; text-align: center }
h1 { font-size: 1.5rem; margin: 0 0 .5rem }
p { margin: 0; opacity: .75 }
</style>
<body><main><h1>${escaped(title)}</h1><p>${escaped(text)}</p></main></body></html>
`

/** The pages. */
export const page = {
  done: render('You are signed in to Backlot', 'The key is stored on this machine. You may close this page.'),
  failed: (why: string): string => render('You are not signed in', why),
  unknown: render('There is nothing here', 'Start again in the program that you want to sign in from.'),
} as const
