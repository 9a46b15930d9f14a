# The modes of the first issue, and what cpbench says of itself.
cpbench list | grep -E '^(id|gdn\.(chunkwise|headwise\.per_seq|replicated_allgather)),'
echo "status $?"
cpbench --version
cpbench --help | grep -E '^(Usage|  (list|run|expect) )'
cpbench --help > /dev/full
echo "status $?"
cpbench
echo "status $?"
cpbench dance
echo "status $?"
cpbench list extra 2>&1 | head -n 1
cpbench list > /dev/full
echo "status $?"
