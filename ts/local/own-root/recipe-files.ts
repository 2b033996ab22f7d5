/** The files of `images/linux-desktop` that its packages do not have. */
import { readFileSync } from 'node:fs'
import chromium from '../../../images/linux-desktop/files/etc/chromium.d/backlot' with { type: 'text' }
import terminals from '../../../images/linux-desktop/files/etc/skel/.config/lxterminal/lxterminal.conf' with {
  type: 'text',
}
import widgets from '../../../images/linux-desktop/files/etc/xdg/gtk-3.0/settings.ini' with { type: 'text' }
import browser from '../../../images/linux-desktop/files/usr/share/backlot/session/applications/browser.desktop' with {
  type: 'text',
}
import editor from '../../../images/linux-desktop/files/usr/share/backlot/session/applications/editor.desktop' with {
  type: 'text',
}
import files from '../../../images/linux-desktop/files/usr/share/backlot/session/applications/files.desktop' with {
  type: 'text',
}
import terminal from '../../../images/linux-desktop/files/usr/share/backlot/session/applications/terminal.desktop' with {
  type: 'text',
}
import menu from '../../../images/linux-desktop/files/usr/share/backlot/session/menu.xml' with { type: 'text' }
import panel from '../../../images/linux-desktop/files/usr/share/backlot/session/programs/panel' with { type: 'text' }
import tint2rc from '../../../images/linux-desktop/files/usr/share/backlot/session/tint2rc' with { type: 'text' }
import wallpaper from '../../../images/linux-desktop/files/usr/share/backlot/session/wallpaper.jpg' with {
  type: 'file',
}
import { rootInside } from './entering.ts'

/** A file that is laid into a root. */
export interface RecipeFile {
  readonly content: string | Uint8Array
  readonly mode: number
}

/** Where a root has what its desktop shows beside its windows: a panel, a menu and a picture. */
export const sessionFolder = '/usr/share/backlot/session'

const plain = (content: string | Uint8Array): RecipeFile => ({ content, mode: 0o644 })

/** The files of the session by their paths in its folder. */
export const sessionFiles = (): Readonly<Record<string, RecipeFile>> => ({
  'applications/browser.desktop': plain(browser),
  'applications/editor.desktop': plain(editor),
  'applications/files.desktop': plain(files),
  'applications/terminal.desktop': plain(terminal),
  // The types of Bun's bundler take it for a document; with `text` it is a string.
  'menu.xml': plain(String(menu)),
  'programs/panel': { content: panel, mode: 0o755 },
  tint2rc: plain(tint2rc),
  'wallpaper.jpg': plain(readFileSync(wallpaper)),
})

/** The files by their absolute paths in a root. */
export const recipeFiles = (): Readonly<Record<string, RecipeFile>> => ({
  '/etc/chromium.d/backlot': plain(chromium),
  '/etc/xdg/gtk-3.0/settings.ini': plain(widgets),
  '/etc/skel/.config/lxterminal/lxterminal.conf': plain(terminals),
  // The home of who the desktop belongs to is there already.
  [`${rootInside.home}/.config/lxterminal/lxterminal.conf`]: plain(terminals),
  ...Object.fromEntries(Object.entries(sessionFiles()).map(([name, file]) => [`${sessionFolder}/${name}`, file])),
})
