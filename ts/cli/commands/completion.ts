/** `backlot completion`: what a shell is told to complete Backlot's words; the words themselves come from Backlot. */
import { Failure } from '@backlot/contract/failure'
import type { Command } from '../command.ts'
import { print } from '../output.ts'

/** Each asks `completion words -- WORD…`, which stands beside the commands, with the words up to the cursor. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_backlot() {
  local IFS=$'\\n'
  COMPREPLY=($("\${COMP_WORDS[0]}" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _backlot backlot`,
  zsh: `#compdef backlot
_backlot() {
  local -a found
  found=("\${(@f)$("\${words[1]}" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found || _files
}
compdef _backlot backlot`,
  fish: `complete -c backlot -f -a '(set -l words (commandline -opc) (commandline -ct); backlot completion words -- $words[2..-1] 2>/dev/null)'`,
}

export const command: Command = {
  summary: 'Print what a shell needs to complete commands, options and names of VMs.',
  usage: `backlot completion bash|zsh|fish

  bash: add  source <(backlot completion bash)  to ~/.bashrc
  zsh:  add  source <(backlot completion zsh)  to ~/.zshrc, below compinit
  fish: backlot completion fish > ~/.config/fish/completions/backlot.fish`,
  async run(args) {
    const [shell = '', ...words] = args
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
    if (script === undefined || words.length > 0) {
      throw new Failure('usage', `Call it as \`backlot completion ${Object.keys(scripts).join('|')}\`.`)
    }
    await print(script)
    return 0
  },
}
