/** The session of the recipe `linux-desktop`, as this executable holds it, for a desktop outside of a container. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
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

/** Where the recipe installs it. */
const installed = '/usr/share/backlot/session'

/** Writes it to a folder, to which its own paths lead then. */
export const writeSession = (folder: string): void => {
  const write = (name: string, content: string | Uint8Array, mode = 0o644): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content, { mode })
  }
  // The types of Bun's bundler take it for a document; with `text` it is a string.
  write('menu.xml', String(menu))
  write('tint2rc', tint2rc.replaceAll(installed, folder))
  write('programs/panel', panel, 0o755)
  for (const [name, text] of Object.entries({ browser, editor, files, terminal })) {
    write(`applications/${name}.desktop`, text)
  }
  write('wallpaper.jpg', readFileSync(wallpaper))
}
