# Export: formats, refusals, and files that appear whole or not at all; other programs' readers take what is written.
k=$DATA/import_kineto
say() { "$@"; echo "status $?"; }
cp "$k/plain(ok,events=2,loss=0).json" plain.json
for to in nsys perfetto chrome csv folded; do say cpscope export plain.json --to $to -o plain.$to; done
say cpscope export plain.json --to chrome -o plain.chrome
say cpscope export plain.json --to chrome -o plain.chrome --force
say cpscope export plain.json --to chrom -o x
say cpscope export plain.json -o x
say cpscope export plain.json --to nsys
say cpscope export plain.json --to csv -o no/such/folder/x
say cpscope export plain.json --to csv --rank 99 -o x
say cpscope export none.json --to csv -o x
cat plain.csv plain.folded
cpscope summary plain.json --format csv | cut -d, -f1-8 > here
for to in chrome nsys; do cpscope summary plain.$to --format csv | cut -d, -f1-8 | cmp - here && echo "$to comes back"; done
sqlite3 plain.nsys "SELECT value FROM META_DATA_EXPORT WHERE name = 'EXPORT_SCHEMA_VERSION'; PRAGMA integrity_check"
python3 - <<'END'
import json
t = json.load(open('plain.chrome'))
print(sorted(t), sorted({e['ph'] for e in t['traceEvents']}))
END
cpscope export plain.json --to csv | cmp - plain.csv && echo 'standard output is the same'
for to in nsys chrome; do
    (ulimit -f 1; trap '' XFSZ; say cpscope export "$DATA/gate_before.json" --to $to -o full.$to 2>&1) | sed 's/: cannot write: .*/: cannot write/'
done
ls
