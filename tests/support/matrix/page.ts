/** The published page about what reaches a window in the background. */
import { exceptions, noticed } from './exceptions.ts'

const intro = `# What reaches a window in the background

Written by one run of \`tests/soak/background.test.ts\`, which tries every action on an application of every toolkit while a person
works in a window that covers it whole. The application's own journal says what arrived; a second X client and the
journal of the person's window say what the person noticed.

- **yes**: it arrived, the person noticed nothing, and the answer said that its effect was seen.
- **yes, unverified**: the same, but nothing that could be looked at showed an effect: most clicks here go to a place that does nothing.
- a code: nothing arrived, and the action was refused with that failure; the reasons are below.
- **no**: it arrived, and the person noticed, or it did not arrive; why is said below.
- **–**: the toolkit has nothing that the action could be tried on.
`

const line = (
  { toolkits, actions, reason }: { toolkits: readonly string[]; actions: readonly string[]; reason: string },
  placings: readonly string[] = [],
): string => {
  const where = placings.length === 0 ? '' : ` (${placings.join(', ')})`
  return `- ${toolkits.join(', ')}${where}: ${actions.join(', ')}. ${reason}`
}

/** What the tables do not show. */
const limits = `## What is not in the tables

- A menu or list that a click opens is a window of its own in front of everything, so the person sees it. In GTK 3, GTK 4, Qt 5 and Qt 6 it takes the agent's next click, and the person's devices are not grabbed for it.
- A dialog that an agent opens by a click, a key or an element's action gets no focus, and lies behind the person's window where its owner does. A window manager or a toolkit that gives it the focus all the same is made to give it back; the person's keys wait for that, and arrive in between whenever the focus is seen in the person's window. \`tests/soak/dialogs.test.ts\` opens dialogs of GTK 3, Qt 5 and Qt 6 one after another under openbox, xfwm4 and metacity while a person types without a pause, and ends at the first lost key. With sixty dialogs each, on two cores for which some twenty programs waited all the time, none of the nine lost one. A dialog that an application opens by itself, some time after it has answered, may get a key on a busy machine before it is noticed.
- Chromium shows the lists of a page inside its window; a click of an agent did not keep one open. Use set_value.
- Elements that take no text, such as check boxes and sliders, are given no key in GTK 3, GTK 4 and Chromium (\`element_not_focusable\`): GTK 3 brings its window to the front when an element is to have the focus, GTK 4 refuses to give it, Chromium says that it has given it but leaves the keys with the address bar when that had it, and a click would operate the element. Use set_value or the element's own actions; keys without element_index go to what has the focus in the window.
- Where the person's keyboard layout has no Latin letters, Chromium gets Ctrl or Alt with a letter as the key that has the letter on a US keyboard, which is how it looks shortcuts up there; a page reads the letter of the layout. On every other layout it gets the key that has the letter.
- A person who works in one window of a Qt application notices clicks in another window of the same application: it is activated, and the person's window again. Keys are refused there (\`application_in_use\`).
- An application that tells of changes by itself, several times a second, may confirm an action that did nothing if it was silent for 80 ms before: its own change is taken for an answer. Pixels are not taken so: a window has to stand still for a second before.
`

/** The page, with a table for each window manager. */
export const pageOf = (tables: readonly string[]): string =>
  [
    intro,
    ...tables,
    '## What is refused\n',
    ...exceptions.map((each) => line(each, each.placings)),
    ...(noticed.length === 0 ? [] : ['\n## What the person notices\n', ...noticed.map((each) => line(each))]),
    '',
    limits,
  ].join('\n')
