# A run on the cuda device, recorded where CUPTI sees nothing of it (the stand-in of tests/fake/cuda): host rows, waits with their
# sites and ranges are those of the cpu device, and each collective is there, as an op row.
program=$BUILD/standin/bin/cpbench
[ -z "$SAN" ] && [ -x "$program" ] && [ -f "$BUILD/lib/libcpscope.so" ] || { echo "the stand-in for a GPU is part of plain builds only"; exit 77; }
shape="--tokens 96 --seqs 56,40 --hidden 16 --kheads 2 --vheads 4 --dk 8 --dv 8 --qheads 4 --kvheads 2 --dqk 8 --dv-attn 8 --recompute full"

rows() { # TRACE KINDS_OF_COLLECTIVES
    cpscope syncs "$1" --span all --format csv | cut -d, -f1-5 | sort
    sqlite3 "$1" "SELECT e.rank, n.value, count(*), count(e.site) FROM event e JOIN string n ON n.id = e.name WHERE e.kind IN (5, 7) GROUP BY 1, 2 ORDER BY 1, 2;
        SELECT e.rank, n.value, e.bytes, count(*) FROM event e JOIN string n ON n.id = e.name WHERE e.kind = $2 AND (n.value LIKE 'cp!_%' ESCAPE '!'
        OR n.value LIKE 'grad!_%' ESCAPE '!') GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"
}
for mode in gdn.chunkwise attn.ring.zigzag; do
    cpscope record --force -o cpu.sqlite -- cpbench run --mode $mode --device cpu --cp 2 $shape > out 2> err || cat err
    cpscope record --force -o cuda.sqlite -- "$program" run --mode $mode --device cuda --cp 2 $shape > out 2> err || cat err
    rows cpu.sqlite 1 > want
    rows cuda.sqlite 6 > got
    for what in device cp_ step; do
        grep -q "$what" want || echo "$mode: no $what"
    done
    diff want got && echo "$mode: equal"
done
