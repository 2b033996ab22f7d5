/** `backlot completion`: what a shell is told to complete Backlot's words; the words themselves come from Backlot. */
import { Failure } from '@backlot/contract/failure'
import type { Command } from '../command.ts'
import { print } from '../terminal/output.ts'

/** Each asks `completion words -- WORD…`, which stands beside the commands, with the words up to the cursor. */
const scripts: Readonly<Record<string, string>> = {
  bash: `_backlot() {
  local IFS=$'\\n' program="\${COMP_WORDS[0]/#\\~/$HOME}"
  COMPREPLY=($("$program" completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _backlot backlot backlot-driver`,
  zsh: `#compdef backlot backlot-driver
_backlot() {
  local text program=\${words[1]/#\\~/$HOME}
  text=$("$program" completion words -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if [[ -n $text ]]; then compadd -- "\${(@f)text}"; else _files; fi
}
if [[ \${funcstack[1]} = _backlot ]]; then _backlot; else compdef _backlot backlot backlot-driver; fi`,
  fish: `function __backlot_words
  set -l words (commandline -opc) (commandline -ct)
  set -l program (string replace -r -- '^~(?=/)' $HOME $words[1])
  set -l found (command $program completion words -- $words[2..-1] 2>/dev/null)
  if set -q found[1]
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c backlot -f -a '(__backlot_words)'
complete -c backlot-driver -f -a '(__backlot_words)'`,
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
