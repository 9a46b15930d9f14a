# verdict: exit status
# Every command and table shows how it is called; those without an example are named here.
for p in cpscope cpbench; do
    for c in $($p --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
        $p $c --help | grep -q "^  $p .*\<$c\>\|^  $p $c\>" && n=$((n + 1)) || { echo "no example: $p $c"; bad=1; }
    done
done
[ "$n" -gt 35 ] && [ -z "$bad" ] || { echo "$n examples"; exit 1; }
