#!/usr/bin/env bash
# manuals.sh BIN OUT - man pages and shell completions, made from the programs' own --help so that they cannot disagree:
# OUT/man/{cpscope,cpscope-COMMAND,cpbench,cpbench-COMMAND}.1, OUT/completion/{cpscope,cpbench,_cpscope,_cpbench}.
set -euo pipefail
bin=$1 out=$2
export PATH=$bin:$PATH LC_ALL=C SOURCE_DATE_EPOCH=0
mkdir -p "$out/man" "$out/completion"

# Names and one-line descriptions of a program's commands: lines of two spaces, a word, text.
commands() { "$1" --help | sed -nE 's/^  ([a-z]+)  +(.*)$/\1 \2/p'; }

page() { # PROGRAM [COMMAND], title, one-line description
    help2man --no-info --no-discard-stderr --section 1 --manual "cpscope" --source "cpscope $(cpscope --version | awk '{ print $NF }')" \
        --version-string "$(cpscope --version | awk '{ print $NF }')" --name "$3" "$1" |
        awk '/^\./ { if (examples) print ".fi"; examples = 0 } # each on a line, not filled
            begins && /^(cpscope|cpbench|srun) / { print ".nf"; examples = 1 }
            { print; begins = /^\.IP/ }
            END { if (examples) print ".fi" }' |
        sed -e "s/^\.TH [^ ]* /.TH \"$2\" /" -e '/^\.SH NAME/{n;s/^\(cpscope\|cpbench\) \([a-z]*\) /\1-\2 /}' > "$out/man/${2,,}.1"
}
page cpscope CPSCOPE "profile and analyze context-parallel training"
page cpbench CPBENCH "run context-parallel modes and check them"
for p in cpscope cpbench; do
    while read -r name what; do page "$p $name" "${p^^}-${name^^}" "$what"; done < <(commands $p)
done

# Lines `COMMAND OPTION WORDS...` of a program: the words that the option's value may be, none where it is a file or any text.
# They are the value when it is written a|b|c, or a list that is the help's text or stands in it before or after a colon.
# OPTION - is a command's argument.
option_words() { # PROGRAM
    local c
    for c in $(commands "$1" | cut -d' ' -f1); do
        { "$1" "$c" --help 2> /dev/null || true; } | awk -v command="$c" -v modes="$(cpbench list | sed -n '2,$s/,.*//p')" \
            -v attn="$(cpbench list | sed -n '/,attention,/s/,.*//p')" -v configs="$(ls kernels/configs)" -v machines="$(ls kernels/machines)" '
            function list(s) {
                gsub(/ \([^)]*\)/, "", s); sub(/ \[.*/, "", s); gsub(/ or /, ", ", s)
                return s ~ /^[a-z][a-z0-9_-]*(, [a-z][a-z0-9_-]*)+$/ ? s : ""
            }
            function put(words, colon) {
                if (option == "") return
                gsub(/ +/, " ", text); sub(/^ /, "", text); colon = index(text, ": ")
                words = value == "" ? "" : option in known ? known[option] : value ~ /^[a-z]+(\|[a-z]+)+$/ ? value : list(text)
                if (words == "" && value != "" && colon) words = list(substr(text, 1, colon - 1))
                if (words == "" && value != "" && colon) words = list(substr(text, colon + 2))
                gsub(/[|,\n] ?/, " ", words)
                print command, option, words
                option = ""
            }
            BEGIN { known["--mode"] = modes; known["--attn-mode"] = attn; known["--config"] = configs; known["--machine"] = machines }
            /^(  -[a-zA-Z?], |      )--[a-z]/ {
                put()
                match($0, /--[a-z][a-z0-9-]*/); option = substr($0, RSTART, RLENGTH); text = substr($0, RSTART + RLENGTH); value = ""
                if (match(text, /^=[^ ]*/)) { value = substr(text, 2, RLENGTH - 1); text = substr(text, RLENGTH + 1) }
                next
            }
            !NF { put() }
            { text = text " " $0 }
            END { put() }'
        case $c in
        calibrate) echo "$c -" $(ls kernels/machines) ;;
        matrix) echo "$c -" $(ls kernels/matrices) ;;
        help) echo "$c -" $(commands "$1" | cut -d' ' -f1) rules ;;
        plot) echo "$c -" $(cpscope --help | sed -nE 's/^  plot .*: ([a-z, ]*).*/\1/p' | tr -d ',') ;;
        esac
    done
}
# Lines of a shell's `case`: each by the format given, of COMMAND and OPTION and words; of COMMAND and all its options.
cases_of_values() { awk -v f="$1" '$2 != "-" && NF > 2 { k = $1 " " $2; $1 = $2 = ""; printf f, k, substr($0, 3) }'; }
cases_of_arguments() { awk -v f="$1" '$2 == "-" { k = $1; $1 = $2 = ""; printf f, k, substr($0, 3) }'; }
cases_of_options() { awk -v f="$1" '$2 != "-" { if (!($1 in o)) c[++n] = $1; o[$1] = o[$1] " " $2 } END { for (i = 1; i <= n; i++) printf f, c[i], substr(o[c[i]], 2) }'; }

bash_completion() { # PROGRAM WORDS
    cat << BASH
# bash completion of $1, made from its --help
_$1()
{
    local cur=\${COMP_WORDS[COMP_CWORD]} at=\$((COMP_CWORD - 1)) words= files=yes
    [ "\$cur" != = ] || { cur= at=\$COMP_CWORD; } # --option=value comes as three words
    [ "\${COMP_WORDS[at]}" != = ] || at=\$((at - 1))
    case "\${COMP_WORDS[1]} \${COMP_WORDS[at]}" in
$(cases_of_values "    '%s') words='%s' files= ;;\n" <<< "$2" | sed "/ --\(config\|machine\)'/s/ files=//")
    *) case \${cur:0:1}\${COMP_WORDS[1]} in # an option of the command, or its argument
$(cases_of_options "        -%s) words='%s' ;;\n" <<< "$2")
$(cases_of_arguments "        *%s) words='%s' ;;\n" <<< "$2")
        esac ;;
    esac
    [ "\$COMP_CWORD" != 1 ] || words='$(commands "$1" | cut -d' ' -f1 | tr '\n' ' ')--help --version' files=
    mapfile -t COMPREPLY < <(compgen -W "\$words" -- "\$cur"; [[ \$cur == -* || ! \$files ]] || compgen -f -- "\$cur")
}
complete -o filenames -F _$1 $1
BASH
}
zsh_completion() { # PROGRAM WORDS
    cat << ZSH
#compdef $1
# made from its --help
local -a commands
commands=(
$(commands "$1" | while read -r name what; do printf "    '%s:%s'\n" "$name" "${what//\'/}"; done)
)
if (( CURRENT == 2 )); then
    _describe command commands
    return
fi
case "\$words[2] \$words[CURRENT-1]" in
$(cases_of_values "    '%s') compadd -- %s ;;\n" <<< "$2")
*) case \$words[2] in
$(cases_of_options "    %s) compadd -- %s ;|\n" <<< "$2")
$(cases_of_arguments "    %s) compadd -- %s ;;\n" <<< "$2")
    esac ;;
esac
_files
ZSH
}
for p in cpscope cpbench; do
    words=$(option_words $p)
    bash_completion $p "$words" > "$out/completion/$p"
    zsh_completion $p "$words" > "$out/completion/_$p"
done
