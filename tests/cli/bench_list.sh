# The GDN modes, and what cpbench says of itself.
cpbench list | grep -E '^(id|gdn\..*),gdn,|^id,'
echo "status $?"
cpbench --version
cpbench --help | grep -E '^(Usage|  (list|run|expect|verify|seeds) )'
cpbench --help > /dev/full
echo "status $?"
cpbench
echo "status $?"
cpbench dance
echo "status $?"
cpbench list extra 2>&1 | head -n 1
cpbench list > /dev/full
echo "status $?"
