/** openbox with a configuration of our own, so that a person's settings neither change a desktop nor are changed by it. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import theme from '../../../images/linux-desktop/openbox-theme.conf' with { type: 'text' }
import { escapeXml } from '../escape-xml.ts'

// Without a menu of ours openbox would read the host's.
const emptyMenu = `<?xml version="1.0" encoding="UTF-8"?>
<openbox_menu xmlns="http://openbox.org/3.4/menu">
</openbox_menu>
`

const bind = (button: string, event: string, ...actions: string[]): string =>
  `<mousebind button="${button}" action="${event}">${actions.map((name) => `<action name="${name}"/>`).join('')}</mousebind>`

/** What opens the menu of the root window. */
const rootMenu =
  '<mousebind button="Right" action="Press"><action name="ShowMenu"><menu>root-menu</menu></action></mousebind>'

const configuration = (
  themeFolder: string,
  menuFile: string,
  hasMenu: boolean,
): string => `<?xml version="1.0" encoding="UTF-8"?>
<openbox_config xmlns="http://openbox.org/3.4/rc">
<focus><focusNew>yes</focusNew><followMouse>no</followMouse><focusLast>yes</focusLast></focus>
<placement><policy>Smart</policy><center>yes</center></placement>
<theme><name>${escapeXml(themeFolder)}</name><titleLayout>LIMC</titleLayout><animateIconify>no</animateIconify>
<font place="ActiveWindow"><name>sans</name><size>10</size><weight>bold</weight></font>
<font place="InactiveWindow"><name>sans</name><size>10</size></font></theme>
<desktops><number>1</number><popupTime>0</popupTime></desktops>
<resize><popupShow>Never</popupShow></resize>
<keyboard>
<keybind key="A-F4"><action name="Close"/></keybind>
<keybind key="A-Tab"><action name="NextWindow"/></keybind>
</keyboard>
<mouse><dragThreshold>4</dragThreshold><doubleClickTime>400</doubleClickTime>
<context name="Titlebar">${bind('Left', 'Press', 'Focus', 'Raise')}${bind('Left', 'Drag', 'Move')}${bind('Left', 'DoubleClick', 'ToggleMaximize')}</context>
<context name="Frame">${bind('A-Left', 'Press', 'Focus', 'Raise')}${bind('A-Left', 'Drag', 'Move')}${bind('A-Right', 'Drag', 'Resize')}</context>
<context name="Client">${['Left', 'Middle', 'Right'].map((button) => bind(button, 'Press', 'Focus', 'Raise')).join('')}</context>
${['Top', 'Bottom', 'Left', 'Right', 'TLCorner', 'TRCorner', 'BLCorner', 'BRCorner']
  .map((edge) => `<context name="${edge}">${bind('Left', 'Drag', 'Resize')}</context>`)
  .join('\n')}
<context name="Root">${hasMenu ? rootMenu : ''}</context>
<context name="Close">${bind('Left', 'Click', 'Close')}</context>
<context name="Maximize">${bind('Left', 'Click', 'ToggleMaximize')}</context>
<context name="Iconify">${bind('Left', 'Click', 'Iconify')}</context>
<context name="Icon"><mousebind button="Left" action="Press"><action name="ShowMenu"><menu>client-menu</menu></action></mousebind></context>
</mouse>
<menu><file>${escapeXml(menuFile)}</file></menu>
</openbox_config>
`

/** Line that the window manager prints when it manages windows. */
export const windowManagerReady = /^backlot-window-manager-ready$/

/**
 * Variables of the window manager alone: it would write a log into the person's cache. With each change of the keyboard
 * map it opens its input method anew, for which Xlib reads the whole table of compose sequences (25 ms of a core); it
 * needs none of them. What is started from a menu has these variables too and does, so there the table stays.
 */
export const windowManagerVariables = (folder: string, menu?: string): Readonly<Record<string, string>> => ({
  XDG_CACHE_HOME: join(folder, 'openbox'),
  ...(menu === undefined ? { XCOMPOSEFILE: '/dev/null' } : {}),
})

/**
 * Writes openbox's configuration under the desktop's folder and gives the command that starts it. `menu` is a file with
 * the menu of the root window, which has none otherwise.
 */
export const windowManagerCommand = (openbox: string, folder: string, menu?: string): [string, ...string[]] => {
  const own = join(folder, 'openbox')
  mkdirSync(join(own, 'openbox-3'), { recursive: true })
  writeFileSync(join(own, 'openbox-3', 'themerc'), theme)
  writeFileSync(join(own, 'menu.xml'), emptyMenu)
  writeFileSync(join(own, 'rc.xml'), configuration(own, menu ?? join(own, 'menu.xml'), menu !== undefined))
  // openbox runs the startup command after it has put up _NET_SUPPORTING_WM_CHECK and taken over the windows.
  return [openbox, '--config-file', join(own, 'rc.xml'), '--startup', 'echo backlot-window-manager-ready']
}
