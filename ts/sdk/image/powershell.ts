/** Build steps in PowerShell, as far as Windows PowerShell 5.1 goes. */
import { scriptEntries } from './contents.ts'
import { powershellText } from './quote.ts'

/** The environment of `uv_install`, whose programs are on PATH. */
const pythonFolder = 'C:\\ProgramData\\Backlot\\python'
const uvFolder = 'C:\\ProgramData\\Backlot\\uv'

/**
 * What each step relies on. An installer changes PATH for programs that start after it, so each step reads the variables of
 * the machine again; a program that fails ends the build as a command of PowerShell does.
 */
export const prelude = `$ErrorActionPreference = 'Stop'
$ProgressPreference = 'SilentlyContinue'
function Read-Variables {
  foreach ($each in [Environment]::GetEnvironmentVariables('Machine').GetEnumerator()) {
    if ($each.Key -notin 'Path', 'PSModulePath', 'TEMP', 'TMP', 'USERNAME') { Set-Item -LiteralPath "Env:\\$($each.Key)" -Value $each.Value }
  }
  $env:Path = [Environment]::GetEnvironmentVariable('Path', 'Machine') + ';' + [Environment]::GetEnvironmentVariable('Path', 'User')
}
function Invoke-Program([string] $Program, [string[]] $Words, [int[]] $Successes = @(0)) {
  & $Program @Words
  if ($LASTEXITCODE -notin $Successes) { throw "$Program ended with $LASTEXITCODE" }
}
function Get-Winget {
  $found = Get-Command winget.exe -ErrorAction SilentlyContinue
  if ($found) { return $found.Source }
  $packages = Join-Path $env:ProgramFiles 'WindowsApps\\Microsoft.DesktopAppInstaller_*__8wekyb3d8bbwe\\winget.exe'
  $found = Get-Item -Path $packages -ErrorAction SilentlyContinue | Select-Object -Last 1
  if (-not $found) { throw 'winget is not installed: it is the App Installer of Windows 11 and Windows Server 2025' }
  return $found.FullName
}
function Install-WithWinget([string] $Id) {
  $agree = @('--accept-source-agreements', '--accept-package-agreements', '--disable-interactivity')
  # The others say that it is installed, and that there is none newer.
  $successes = @(0, -1978335135, -1978335189)
  Invoke-Program (Get-Winget) (@('install', '--exact', '--silent') + $agree + @('--id', $Id)) $successes
}
function Get-Python {
  foreach ($name in 'python.exe', 'py.exe') {
    $found = Get-Command $name -ErrorAction SilentlyContinue | Where-Object { $_.Source -notlike '*\\WindowsApps\\*' } | Select-Object -First 1
    if ($found) { return $found.Source }
  }
  throw 'Python is not installed: put .wingetInstall("Python.Python.3.13") before'
}
function Write-Contents([string] $Path, [string] $Text, [bool] $Compressed) {
  $null = New-Item -ItemType Directory -Force -Path ([IO.Path]::GetDirectoryName($Path))
  $bytes = [Convert]::FromBase64String($Text)
  if (-not $Compressed) { [IO.File]::WriteAllBytes($Path, $bytes); return }
  $source = New-Object IO.MemoryStream (, $bytes)
  $plain = New-Object IO.Compression.GZipStream ($source, [IO.Compression.CompressionMode]::Decompress)
  $file = [IO.File]::Create($Path)
  try { $plain.CopyTo($file) } finally { $file.Dispose(); $plain.Dispose() }
}`

/** The step itself, in a scope of its own. */
export const step = (script: string): string => `Read-Variables\n& {\n${script}\n}`

const list = (values: readonly string[]): string => `@(${values.map(powershellText).join(', ')})`

/** Installs packages by winget, one by one: it takes one name. */
export const wingetInstall = (packages: readonly string[]): string =>
  packages.map((name) => `Install-WithWinget ${powershellText(name)}`).join('\n')

/** Installs packages by Chocolatey, which winget brings where it is missing. */
export const chocoInstall = (packages: readonly string[]): string =>
  [
    'if (-not (Get-Command choco.exe -ErrorAction SilentlyContinue)) {',
    "  Install-WithWinget 'Chocolatey.Chocolatey'",
    '  Read-Variables',
    '}',
    // The others say that Windows is to be started again.
    `Invoke-Program 'choco.exe' (@('install', '-y', '--no-progress') + ${list(packages)}) @(0, 1641, 3010)`,
  ].join('\n')

/** Installs Python packages by pip. */
export const pipInstall = (packages: readonly string[]): string =>
  `Invoke-Program (Get-Python) (@('-m', 'pip', 'install', '--no-cache-dir', '--no-input', '--') + ${list(packages)})`

/** Installs Python packages by uv, itself installed by pip, into an environment of ours. */
export const uvInstall = (packages: readonly string[]): string =>
  [
    `$python = '${pythonFolder}\\Scripts\\python.exe'`,
    `$uv = '${uvFolder}\\bin\\uv.exe'`,
    'if (-not (Test-Path -LiteralPath $uv)) {',
    `  Invoke-Program (Get-Python) @('-m', 'pip', 'install', '--no-cache-dir', '--no-input', '--target', '${uvFolder}', '--', 'uv')`,
    '}',
    'if (-not (Test-Path -LiteralPath $python)) {',
    `  Invoke-Program $uv @('venv', '--no-cache', '--no-python-downloads', '--python', (Get-Python), '--seed', '--system-site-packages', '${pythonFolder}')`,
    "  $path = [Environment]::GetEnvironmentVariable('Path', 'Machine')",
    `  [Environment]::SetEnvironmentVariable('Path', '${pythonFolder}\\Scripts;' + $path, 'Machine')`,
    '}',
    `Invoke-Program $uv (@('pip', 'install', '--no-cache', '--python', $python, '--') + ${list(packages)})`,
  ].join('\n')

/** Runs a command of PowerShell; a program that it ends with and that fails, fails it. */
export const run = (command: string): string =>
  [
    '$global:LASTEXITCODE = 0',
    `& ([ScriptBlock]::Create(${powershellText(command)}))`,
    'if ($LASTEXITCODE -ne 0) { throw "the command ended with $LASTEXITCODE" }',
  ].join('\n')

/** Sets variables for all that starts from now on. */
export const keepVariables = (variables: Readonly<Record<string, string>>): string =>
  Object.entries(variables)
    .map(([name, value]) => `[Environment]::SetEnvironmentVariable('${name}', ${powershellText(value)}, 'Machine')`)
    .join('\n')

/** Writes local files and folders; Windows has no modes of that kind. */
export const copy = (src: string, dst: string): string =>
  scriptEntries(src, dst, '\\')
    .map((entry) => {
      const target = powershellText(entry.target)
      if (entry.type === 'folder') return `$null = New-Item -ItemType Directory -Force -Path ${target}`
      if (entry.type === 'link')
        return `$null = New-Item -ItemType SymbolicLink -Force -Path ${target} -Target ${powershellText(entry.to)}`
      return `Write-Contents ${target} '${entry.text}' $${entry.isCompressed}`
    })
    .join('\n')

/** Lets callers reach ports through the firewall of Windows. */
export const openPorts = (ports: readonly number[]): string =>
  `$null = New-NetFirewallRule -DisplayName 'Backlot image' -Direction Inbound -Action Allow -Protocol TCP -LocalPort ${ports.join(', ')}`
