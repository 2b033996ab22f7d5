/** Build steps that macOS does in its own way. */
import { shellText } from '@backlot/contract/text/shell-text'
import { append, pythonFolder, shellWords } from './shell.ts'

/** What shells read, and what `launchd` is told at each start. */
export const profileFile = '/etc/backlot-image.sh'
const launchdFile = '/etc/backlot-image-launchd.sh'
const launchdJob = '/Library/LaunchDaemons/dev.backlot.image.plist'

/** Installs Homebrew packages; Homebrew refuses the administrator, so the owner of its folder does it. */
export const brewInstall = (packages: readonly string[]): string =>
  [
    'for brew in "$(command -v brew)" /opt/homebrew/bin/brew /usr/local/bin/brew; do [ ! -x "$brew" ] || break; done',
    'export NONINTERACTIVE=1',
    'if [ "$(id -u)" = 0 ]; then',
    `  sudo -H -u "$(stat -f %Su "$brew")" NONINTERACTIVE=1 "$brew" install -- ${shellWords(packages)}`,
    'else',
    `  "$brew" install -- ${shellWords(packages)}`,
    'fi',
  ].join('\n')

const job = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>dev.backlot.image</string>
  <key>ProgramArguments</key><array><string>/bin/sh</string><string>${launchdFile}</string></array>
  <key>RunAtLoad</key><true/>
</dict>
</plist>`

/** Login shells of both kinds read the profile, and launchd runs the other file at each start. */
const hook = [
  `for file in /etc/profile /etc/zshenv; do`,
  `  grep -qsF ${profileFile} "$file" || printf '%s\\n' '[ ! -e ${profileFile} ] || . ${profileFile}' >> "$file"`,
  'done',
  `[ -e ${launchdJob} ] || printf '%s\\n' ${shellText(job)} > ${launchdJob}`,
  `sh ${launchdFile}`,
].join('\n')

/** Sets variables for shells and services. */
export const keepVariables = (variables: Readonly<Record<string, string>>): string => {
  const all = Object.entries(variables).map(([name, value]) => [name, shellText(value)])
  return [
    append(all.map(([name, value]) => `export ${name}=${value}`).join('\n'), profileFile),
    append(all.map(([name, value]) => `launchctl setenv ${name} ${value}`).join('\n'), launchdFile),
    hook,
  ].join('\n')
}

/** Puts the environment of ours first on PATH. */
export const keepPythonOnPath = [
  append(`export PATH=${pythonFolder}/bin:"$PATH"`, profileFile),
  append(`launchctl setenv PATH ${pythonFolder}/bin:"$PATH"`, launchdFile),
  hook,
].join('\n')
