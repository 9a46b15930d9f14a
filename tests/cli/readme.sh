# verdict: exit status
# The first screen of README.md: its commands are run, and print what stands below them. Says which lines do not.
[ -z "$SAN" ] || { echo "one build says it"; exit 77; }
sed -n '/^```console/,/^```$/p' "$ROOT/README.md" | grep -v -e '^```' -e '^$ make ' > want
while read -r line; do
    [[ $line == '$ '* ]] || continue
    echo "$line"
    eval "${line#\$ }"
done < want > got
diff want got
