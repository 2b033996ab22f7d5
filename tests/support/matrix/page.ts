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

/** When answers come, and what the tables do not show. */
const limits = `## When an answer comes

An action that nothing confirms is answered as soon as the application has provably handled it and rests: it answered a
\`_NET_WM_PING\`, which stands in its queue behind the action; it and all processes that descend from it slept at one moment
after that, so nothing is under way between them; and then nothing was drawn and nothing announced for 36 ms. Drawing that has
begun by then is looked at until it ends. Otherwise the answer comes after \`evidence_timeout_ms\` (400). What comes later is
told with the session's next answer (\`late\`), for up to a second after the action.

| | proof that it was handled | answer to a click that changes nothing |
| --- | --- | --- |
| GTK 3, GTK 4 | ping, asleep | at once |
| Qt 5, Qt 6 | two pings, asleep between and after them (Qt acts on what it has read later) | at once |
| Chromium, Firefox | ping, browser and the processes of its pages asleep | at once; after the time where a page moves all the time |
| xterm and other windows that answer no ping | none | after the time |
| a program of another machine, or one whose processes cannot be seen | none | after the time |
| an application that draws or speaks all the time, works, or whose children work | none as long as it does | after the time |
| a window whose drawing the X server does not report (no DAMAGE) | none | after the time |

- What a program waits for from elsewhere (a timer, a server, a terminal's far end, a remote desktop) is not handled: it comes late.
- Late facts are titles, windows, the element acted on, pixels of a window that was still before, and announcements of an application that was silent for a second before but for what actions explain.
- An action on an application of which an earlier action, of any session, is still waited for is confirmed by its own element or text only: what else is seen is \`perhaps_late\`, and the other session is told too. So of two clicks within a second of which the first did nothing, the second may stay unverified though it opened a window.
- What the person does in the window meanwhile may be told as late.
- The ping's answer is seen by the window manager too. It carries a time that none of openbox, xfwm4, metacity and kwin takes for its own; the ping itself goes to the application alone, so a window manager's judgement of what hangs stays its own.

## What is not in the tables

- A menu or list that a click opens is a window of its own in front of everything, so the person sees it. In GTK 3, GTK 4, Qt 5 and Qt 6 it takes the agent's next click, and the person's devices are not grabbed for it, unless the person works in the same application: GTK 4 closes a list at once for which it may not grab them.
- A menu or list that opens over the person's pointer has that pointer in it until it closes or the person moves away, and the person's window is told that the pointer left. GTK 3 takes it for a pointer that chooses: if it rests on an item with a submenu, the submenu opens after 225 ms, and GTK grabs the person's pointer and keyboard for it until the menu is closed, so that the person's keys go to the menu meanwhile. That was seen in LibreOffice Calc, under openbox and xfwm4. In the tables the person's pointer lies beside the menus.
- A dialog that an agent opens by a click, a key or an element's action gets no focus, and lies behind the person's window where its owner does. A window manager or a toolkit that gives it the focus all the same is made to give it back; the person's keys wait for that, and arrive in between whenever the focus is seen in the person's window. \`tests/soak/dialogs.test.ts\` opens dialogs of GTK 3, Qt 5 and Qt 6 one after another under openbox, xfwm4 and metacity while a person types without a pause, and ends at the first lost key. With sixty dialogs each, on two cores for which some twenty programs waited all the time, none of the nine lost one. A dialog that an application opens by itself, some time after it has answered, may get a key on a busy machine before it is noticed.
- Chromium shows the lists of a page inside its window; a click of an agent did not keep one open. Use set_value, which works for \`<select>\`, with and without \`size\`, and for fields with a \`<datalist>\`.
- A drop-down of GTK 4 (\`GtkDropDown\`) has its options only while it is open. \`set_value\` opens it with the agent's pointer, goes to the option with the arrow keys and takes it with Return, or closes it with Escape: the list lies in front of everything for a fifth of a second, the person sees it, and a person's pointer at its place is in it for that moment. Its window has to be on the screen, covered or not. Of more options than the list keeps ready (GTK 4 keeps about two hundred) only those near the chosen one are found. A list that an agent has opened itself is best chosen from by keys.
- A \`GtkComboBox\` of GTK 4 (\`GtkComboBoxText\` too) names none of its options: \`set_value\` refuses it (\`value_not_supported\`) and says how keys choose there. One with a field takes the text.
- Elements that take no text, such as check boxes and sliders, are given no key in GTK 3, GTK 4 and Chromium (\`element_not_focusable\`): GTK 3 brings its window to the front when an element is to have the focus, GTK 4 refuses to give it, Chromium says that it has given it but leaves the keys with the address bar when that had it, and a click would operate the element. Use set_value or the element's own actions; keys without element_index go to what has the focus in the window. \`scroll\` turns the wheel at their place instead, and says so.
- Where the person's keyboard layout has no Latin letters, Chromium gets Ctrl or Alt with a letter as the key that has the letter on a US keyboard, which is how it looks shortcuts up there; a page reads the letter of the layout. On every other layout it gets the key that has the letter.
- A person who works in one window of a Qt application notices clicks in another window of the same application: it is activated, and the person's window again. Keys are refused there (\`application_in_use\`).
- A control that is pressed, by its element or at its place, looks pressed for a moment and may take the focus, whatever comes of it: none of that is evidence, except of a field that takes text. What counts is its value, label and other states, what shows elsewhere in the window, and what the application tells; where the press moves the focus, no pixels count. So a control that only draws itself anew, or only moves the focus, stays unverified. Qt acts 100 ms after the press of an element, GTK 4 250 ms after it: the answer waits while the control looks pressed, and where that cannot be seen the effect is told late.
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
