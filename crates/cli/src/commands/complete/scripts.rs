//! The scripts for shells that can be asked while a command is typed. Each hands the words to
//! `baton __complete`; whatever goes wrong, nothing is printed.

pub(super) const BASH: &str = r#"# Completion of `baton` for bash.
_baton() {
    local first=1 line
    COMPREPLY=()
    while IFS= read -r line; do
        if [ "$first" = 1 ]; then
            first=0
            [ "$line" = ":files" ] && compopt -o default 2>/dev/null
            continue
        fi
        COMPREPLY+=("$line")
    done < <("${COMP_WORDS[0]}" __complete bash -- "${COMP_LINE:0:COMP_POINT}" 2>/dev/null)
}
complete -o nosort -F _baton baton 2>/dev/null || complete -F _baton baton
"#;

pub(super) const ZSH: &str = r#"#compdef baton
# Completion of `baton` for zsh.
_baton() {
    local -a answer described
    local line word
    answer=("${(@f)$("${words[1]}" __complete zsh -- "${(@Q)words[1,CURRENT]}" 2>/dev/null)}")
    if [[ "${answer[1]}" == ":files" ]]; then
        _files
        return
    fi
    for line in "${(@)answer[2,-1]}"; do
        word="${line%%$'\t'*}"
        if [[ "$line" == *$'\t'* ]]; then
            described+=("${word//:/\\:}:${line#*$'\t'}")
        else
            described+=("${word//:/\\:}")
        fi
    done
    _describe -V 'baton' described
}
if [ "$funcstack[1]" = "_baton" ]; then
    _baton "$@"
else
    compdef _baton baton
fi
"#;

pub(super) const FISH: &str = r#"# Completion of `baton` for fish.
function __baton_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l answer ($words[1] __complete fish -- $words 2>/dev/null)
    if test "$answer[1]" = ":files"
        __fish_complete_path (commandline -ct)
        return
    end
    for line in $answer[2..-1]
        echo $line
    end
end
complete -c baton -f -a '(__baton_complete)'
"#;
