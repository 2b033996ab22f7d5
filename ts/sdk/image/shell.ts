/** Build steps in POSIX shell; where macOS does otherwise, `macos.ts` says it. */
import { shellText } from '@backlot/contract/text/shell-text'
import { scriptEntries } from './contents.ts'
import { systemdText } from './quote.ts'

/** The environment of `uv_install`, and the folder of its programs, which is on PATH. */
export const pythonFolder = '/opt/backlot/python'
const pythonPrograms = `${pythonFolder}/bin`

/** What shells read at login, and each step of a build before it begins: the variables of the image. */
export const profileFile = '/etc/profile.d/backlot-image.sh'

const systemdFiles = ['/etc/systemd/system.conf.d/backlot-image.conf', '/etc/systemd/user.conf.d/backlot-image.conf']

const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))

/** Words of a command line. */
export const shellWords = (values: readonly string[]): string => values.map(shellText).join(' ')

/** Reads the variables of the image, where it has some by then. */
export const readVariables = (file: string): string => `[ ! -e ${file} ] || . ${file}`

const apt = 'apt-get -q -o DPkg::Lock::Timeout=600'

/** Installs Debian packages. */
export const aptInstall = (packages: readonly string[]): string =>
  ['export DEBIAN_FRONTEND=noninteractive', `${apt} update`, `${apt} install -y -- ${shellWords(packages)}`].join('\n')

/** Makes sure that Python has pip; macOS brings both, and elsewhere pip says that it is missing. */
const needPip = [
  'if ! python3 -m pip --version >/dev/null 2>&1 && command -v apt-get >/dev/null; then',
  '  export DEBIAN_FRONTEND=noninteractive',
  `  ${apt} update`,
  `  ${apt} install -y --no-install-recommends python3 python3-pip`,
  'fi',
].join('\n')

/** Pip without a cache; a Python that the system manages takes packages by a variable that older ones do not know. */
const pip = 'PIP_BREAK_SYSTEM_PACKAGES=1 PIP_ROOT_USER_ACTION=ignore python3 -m pip install --no-cache-dir --no-input'

/** Installs Python packages by pip, for the Python that is first on PATH. */
export const pipInstall = (packages: readonly string[]): string =>
  [needPip, `${pip} -- ${shellWords(packages)}`].join('\n')

/**
 * Installs Python packages into the environment of ours, which sees those of the system too. uv is the one on PATH, else it
 * comes from the package index like the packages themselves.
 */
export const uvInstall = (packages: readonly string[], keepOnPath: string): string =>
  [
    'if ! uv=$(command -v uv); then',
    '  uv=/opt/backlot/uv/bin/uv',
    `  if [ ! -x "$uv" ]; then`,
    needPip.replace(/^/gm, '    '),
    `    ${pip} --target /opt/backlot/uv -- uv`,
    '  fi',
    'fi',
    `if [ ! -x ${pythonPrograms}/python ]; then`,
    `  "$uv" venv --no-cache --no-python-downloads --python "$(command -v python3)" --seed --system-site-packages ${pythonFolder}`,
    keepOnPath,
    'fi',
    `"$uv" pip install --no-cache --python ${pythonPrograms}/python -- ${shellWords(packages)}`,
  ].join('\n')

/** Runs a command in a shell of its own: what it sets ends with it. */
export const run = (command: string): string => `sh -c ${shellText(command)}`

/** Writes a text to the end of a file. */
export const append = (text: string, file: string): string => `printf '%s\\n' ${shellText(text)} >> ${file}`

/** Sets variables for login shells, for sessions that PAM begins, and for services. */
export const keepVariables = (variables: Readonly<Record<string, string>>): string => {
  const all = Object.entries(variables)
  const exports = all.map(([name, value]) => `export ${name}=${shellText(value)}`).join('\n')
  const forPam = all.filter(([, value]) => isPlainForPam(value)).map(([name, value]) => `${name}=${value}`)
  const forServices = all.map(([name, value]) => systemdText(`${name}=${value}`)).join(' ')
  return [
    `mkdir -p ${[profileFile, ...systemdFiles].map(folderOf).join(' ')}`,
    append(exports, profileFile),
    ...(forPam.length > 0 ? [append(forPam.join('\n'), '/etc/environment')] : []),
    ...systemdFiles.map((file) => append(`[Manager]\nDefaultEnvironment=${forServices}`, file)),
    tellSystemd,
  ].join('\n')
}

/** PAM's file knows no quoting (pam_env(8)): a value that it would change is left to the others. */
const isPlainForPam = (value: string): boolean =>
  value.length < 900 &&
  /^[\x21-\x7e\u{a1}-\u{10ffff}]?(?:[\x20-\x7e\u{a1}-\u{10ffff}]*[\x21-\x7e\u{a1}-\u{10ffff}])?$/u.test(value) &&
  !/["'#$\\]/.test(value)

const tellSystemd = '[ ! -d /run/systemd/system ] || systemctl daemon-reexec'

/** Puts the environment of ours first on PATH, at whatever time each of these reads it. */
export const keepPythonOnPath = [
  `mkdir -p ${[profileFile, ...systemdFiles].map(folderOf).join(' ')}`,
  append(`export PATH=${pythonPrograms}:"$PATH"`, profileFile),
  `path=$(printf '%s' "${pythonPrograms}:$PATH" | tr -d '\\n')`,
  `printf 'PATH=%s\\n' "$path" >> /etc/environment`,
  `path=$(printf '%s' "$path" | sed 's/[\\\\"]/\\\\&/g; s/%/%%/g')`,
  ...systemdFiles.map((file) => `printf '[Manager]\\nDefaultEnvironment="PATH=%s"\\n' "$path" >> ${file}`),
  tellSystemd,
].join('\n')

/** Writes local files and folders, with their modes. */
export const copy = (src: string, dst: string): string =>
  scriptEntries(src, dst, '/')
    .flatMap((entry) => {
      const target = shellText(entry.target)
      const above = entry.path === '' ? [`mkdir -p ${shellText(folderOf(entry.target) || '/')}`] : []
      if (entry.type === 'link') return [...above, `ln -sfn -- ${shellText(entry.to)} ${target}`]
      const mode = `chmod ${entry.mode.toString(8)} ${target}`
      // A folder that is there already keeps its mode: it is the system's.
      if (entry.type === 'folder') return [`[ -d ${target} ] || { mkdir -p ${target}; ${mode}; }`]
      const lines = entry.text.replace(/.{76}(?=.)/g, '$&\n')
      const decode = entry.isCompressed ? 'base64 -d | gzip -d' : 'base64 -d'
      return [...above, `{ ${decode}; } > ${target} <<'END'\n${lines}\nEND`, mode]
    })
    .join('\n')

/** Lets callers reach ports through the firewall of the system, where one is at work. */
export const openPorts = (ports: readonly number[]): string =>
  [
    `if command -v ufw >/dev/null && ufw status | grep -q '^Status: active'; then`,
    ...ports.map((port) => `  ufw allow ${port}/tcp`),
    'elif command -v firewall-cmd >/dev/null && firewall-cmd --quiet --state; then',
    ...ports.flatMap((port) =>
      ['', ' --permanent'].map((kept) => `  firewall-cmd --quiet${kept} --add-port=${port}/tcp`),
    ),
    'fi',
  ].join('\n')
