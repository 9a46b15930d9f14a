#!/usr/bin/env bash
# manuals.sh BIN OUT - man pages and shell completions, made from the programs' own --help so that they cannot disagree:
# OUT/man/{cpscope,cpscope-COMMAND,cpbench,cpbench-COMMAND}.1, OUT/completion/{cpscope,cpbench,_cpscope,_cpbench}.
set -euo pipefail
bin=$1 out=$2
export PATH=$bin:$PATH LC_ALL=C SOURCE_DATE_EPOCH=0
mkdir -p "$out/man" "$out/completion"

# Names and one-line descriptions of a program's commands: lines of two spaces, a word, text.
commands() { "$1" --help | sed -nE 's/^  ([a-z]+)  +(.*)$/\1 \2/p'; }
options() { { $1 --help 2> /dev/null || true; } | grep -oE -- '--[a-z][a-z-]*' | sort -u | tr '\n' ' '; }

page() { # PROGRAM [COMMAND], title, one-line description
    help2man --no-info --no-discard-stderr --section 1 --manual "cpscope" --source "cpscope $(cpscope --version | awk '{ print $NF }')" \
        --version-string "$(cpscope --version | awk '{ print $NF }')" --name "$3" "$1" |
        sed -e "s/^\.TH [^ ]* /.TH \"$2\" /" -e '/^\.SH NAME/{n;s/^\(cpscope\|cpbench\) \([a-z]*\) /\1-\2 /}' > "$out/man/${2,,}.1"
}
page cpscope CPSCOPE "profile and analyze context-parallel training"
page cpbench CPBENCH "run context-parallel modes and check them"
for p in cpscope cpbench; do
    while read -r name what; do page "$p $name" "${p^^}-${name^^}" "$what"; done < <(commands $p)
done

bash_completion() { # PROGRAM
    printf '# bash completion of %s, made from its --help\n_%s()\n{\n    local cur=${COMP_WORDS[COMP_CWORD]} words\n    case ${COMP_WORDS[1]} in\n' "$1" "$1"
    for c in $(commands "$1" | cut -d' ' -f1); do printf "    %s) words='%s' ;;\n" "$c" "$(options "$1 $c")"; done
    printf "    *) words='%s' ;;\n    esac\n" "$(commands "$1" | cut -d' ' -f1 | tr '\n' ' ')--help --version"
    printf '    if [ "$COMP_CWORD" = 1 ] || [[ $cur == -* ]]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur"); else mapfile -t COMPREPLY < <(compgen -f -- "$cur"); fi\n}\ncomplete -o filenames -F _%s %s\n' "$1" "$1"
}
zsh_completion() {
    printf '#compdef %s\n# made from its --help\nlocal -a commands\ncommands=(\n' "$1"
    commands "$1" | while read -r name what; do printf "    '%s:%s'\n" "$name" "${what//\'/}"; done
    printf ')\nif (( CURRENT == 2 )); then\n    _describe command commands\n    return\nfi\ncase $words[2] in\n'
    for c in $(commands "$1" | cut -d' ' -f1); do printf "    %s) compadd -- %s ;;\n" "$c" "$(options "$1 $c")"; done
    printf 'esac\n_files\n'
}
for p in cpscope cpbench; do
    bash_completion "$p" > "$out/completion/$p"
    zsh_completion "$p" > "$out/completion/_$p"
done
