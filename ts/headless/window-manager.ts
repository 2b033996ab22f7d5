/** openbox with a configuration of our own, so that a person's settings neither change a desktop nor are changed by it. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const escapeXml = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const theme = `
border.width: 1
padding.width: 8
padding.height: 5
window.handle.width: 0
window.client.padding.width: 0
window.active.border.color: #3b4252
window.inactive.border.color: #a9b0bc
window.active.title.bg: flat solid
window.active.title.bg.color: #3b4252
window.inactive.title.bg: flat solid
window.inactive.title.bg.color: #d8dce3
window.active.label.bg: parentrelative
window.inactive.label.bg: parentrelative
window.active.label.text.color: #ffffff
window.inactive.label.text.color: #5b6270
window.label.text.justify: center
window.active.button.unpressed.bg: parentrelative
window.inactive.button.unpressed.bg: parentrelative
window.active.button.pressed.bg: flat solid
window.active.button.pressed.bg.color: #5e81ac
window.active.button.hover.bg: flat solid
window.active.button.hover.bg.color: #4c566a
window.active.button.unpressed.image.color: #e5e9f0
window.active.button.hover.image.color: #ffffff
window.inactive.button.unpressed.image.color: #7b8290
menu.border.color: #3b4252
menu.items.bg: flat solid
menu.items.bg.color: #f4f5f7
menu.items.text.color: #2e3440
menu.items.disabled.text.color: #a9b0bc
menu.items.active.bg: flat solid
menu.items.active.bg.color: #5e81ac
menu.items.active.text.color: #ffffff
osd.bg: flat solid
osd.bg.color: #f4f5f7
osd.label.text.color: #2e3440
`

// Without a menu of ours openbox would read the host's.
const menu = `<?xml version="1.0" encoding="UTF-8"?>
<openbox_menu xmlns="http://openbox.org/3.4/menu">
</openbox_menu>
`

const bind = (button: string, event: string, ...actions: string[]): string =>
  `<mousebind button="${button}" action="${event}">${actions.map((name) => `<action name="${name}"/>`).join('')}</mousebind>`

const configuration = (themeFolder: string, menuFile: string): string => `<?xml version="1.0" encoding="UTF-8"?>
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

/** Variables of the window manager alone: it would write a log into the person's cache. */
export const windowManagerVariables = (folder: string) => ({ XDG_CACHE_HOME: join(folder, 'openbox') })

/** Writes openbox's configuration under the desktop's folder and gives the command that starts it. */
export const windowManagerCommand = (openbox: string, folder: string): [string, ...string[]] => {
  const own = join(folder, 'openbox')
  mkdirSync(join(own, 'openbox-3'), { recursive: true })
  writeFileSync(join(own, 'openbox-3', 'themerc'), theme)
  writeFileSync(join(own, 'menu.xml'), menu)
  writeFileSync(join(own, 'rc.xml'), configuration(own, join(own, 'menu.xml')))
  // openbox runs the startup command after it has put up _NET_SUPPORTING_WM_CHECK and taken over the windows.
  return [openbox, '--config-file', join(own, 'rc.xml'), '--startup', 'echo backlot-window-manager-ready']
}
