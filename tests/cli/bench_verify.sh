# Every mode against one rank, and the seeds' sweep: what they judge, not what they measure.
cpbench verify --quick > rows
echo "status $?"
head -n 1 rows
cut -d, -f1 rows | sort -u | grep -c '\.'
grep -vc ',1$' rows
grep -E '^gdn\.state_p2p,8,straddle,' rows | cut -d, -f1-6,8-9
cpbench verify --mode gdn.ulises
echo "status $?"
cpbench seeds --count 2 | cut -d, -f1,3,5
cpbench seeds --count 0
echo "status $?"
