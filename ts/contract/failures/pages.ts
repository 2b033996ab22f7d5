/** Failures of web pages. */
import { kinds } from './kind.ts'

export const pageFailures = kinds({
  page_not_found: { when: 'The window shows no web page that can be reached.', exit: 1 },
  page_ambiguous: { when: 'Several pages could be the one that the window shows.', exit: 1 },
  page_needs_debugging_port: { when: 'The browser listens for no debugger, and the action needs one.', exit: 1 },
  page_busy: { when: 'Another client debugs the browser, which takes one at a time.', exit: 1 },
  page_not_responding: { when: 'The page does not answer in time: its own script runs, or it hangs.', exit: 1 },
  page_dialog_open: { when: 'A dialog of the page is open, and nothing goes on before it is answered.', exit: 1 },
  page_gone: { when: 'The page was closed, or left for another, in the middle of the call.', exit: 1 },
  script_failed: { when: 'The script threw, or is no JavaScript.', exit: 1 },
  script_timeout: { when: 'The script, or the promise that it gave, took longer than the limit.', exit: 1 },
  page_element_not_found: { when: 'No element of the page matches the selector.', exit: 1 },
  page_element_not_clickable: {
    when: 'The element that matches is covered, invisible, disabled, without size or out of reach.',
    exit: 1,
  },
})
