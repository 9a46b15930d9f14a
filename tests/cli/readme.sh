# verdict: exit status
# The first screen of README.md: its commands are run, and print what stands below them. Says which lines do not; UPDATE=1 puts
# them in.
[ -z "$SAN" ] || { echo "one build says it"; exit 77; }
sed -n '/^```console/,/^```$/p' "$ROOT/README.md" | grep -v '^```' > want
while read -r line; do
    [[ $line == '$ '* ]] || continue
    echo "$line"
    [[ $line == '$ make '* ]] || eval "${line#\$ }"
done < want > got
grep -q '^verdict: ' got || exit 1
[ -z "$UPDATE" ] || sed -i -e '/^```console/,/^```$/{//!d}' -e '/^```console/r got' "$ROOT/README.md"
diff want got
