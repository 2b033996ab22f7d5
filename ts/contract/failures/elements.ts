/** Failures of elements and their accessibility bus. */
import { kinds } from './kind.ts'

export const elementFailures = kinds({
  stale_element: { when: 'The element index is not of the latest snapshot, or the element is gone.', exit: 1 },
  element_not_found: { when: 'Nothing on the screen is like the element that was asked for.', exit: 1, status: 404 },
  element_disabled: { when: 'The element does not take input now.', exit: 1 },
  element_not_focusable: { when: 'Keys are meant for an element that does not take the focus.', exit: 1 },
  accessibility_unavailable: { when: 'The accessibility bus cannot be reached.', exit: 1 },
  not_accessible: { when: 'The application is not on the accessibility bus.', exit: 1 },
  accessibility_timeout: { when: 'The application did not answer the accessibility bus in time.', exit: 1 },
  accessibility_failed: { when: 'The accessibility connection broke.', exit: 1 },
  unknown_element: { when: 'The snapshot has no element of that index.', exit: 1 },
  action_not_supported: { when: 'The element offers no such action.', exit: 1 },
  action_refused: { when: 'The toolkit took the action and answered that it did not do it.', exit: 1 },
  text_not_supported: { when: 'The element takes no text through accessibility.', exit: 1 },
  value_not_supported: { when: 'The element takes no value, or none of that kind.', exit: 1 },
  value_not_accepted: { when: 'The element has no such option, or the value is out of its range.', exit: 1 },
  menu_not_found: { when: 'The window has no menu that can be read.', exit: 1 },
  menu_item_not_found: { when: 'A menu has no item of that name, or the path ends at a submenu.', exit: 1 },
  menu_item_ambiguous: { when: 'A menu has several items of that name.', exit: 1 },
  menu_closed: { when: 'The toolkit operates the items of open menus alone.', exit: 1 },
  not_on_this_platform: { when: 'The action exists on another platform only.', exit: 1 },
})
