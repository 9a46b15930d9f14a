# Groups of some of the ranks share their names: the calls of each are matched among its own ranks, and only these.
rows() { cpscope comm "$@" --format csv | sed 1d | awk -F , '{print $1, $3, $4, $5, $6, $8 == "" ? "wait unknown" : $8 + $9 == $7 ? "wait and transfer" : "wrong"}' | sort; }
o="--device cpu --mode gdn.chunkwise --tokens 256 --seqs equal:4 --hidden 32 --cp 4"
cpscope record -o a.db -- cpbench run $o --cp 2 --tp 2 > rows 2> err
rows a.db
echo "- cp sizes that change"
cpscope record -o b.db -- cpbench run $o --dynamic-cp 4,2,1 > rows 2> err
grep schedule err
rows b.db
echo "- half of the ranks, of two groups"
rows a.db --rank 0
