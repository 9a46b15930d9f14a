# record keeps the program's status, output and input; a program without events leaves no file and a note.
r() { cpscope record "$@"; echo "status $?"; }
r -o a.sqlite -- true
r -o a.sqlite -- sh -c 'exit 7'
r -o a.sqlite -- sh -c 'echo to stdout; echo to stderr >&2'
echo input | r -o a.sqlite -- cat
r -o a.sqlite -- sh -c 'kill -TERM $$'
r -o a.sqlite -- sh -c 'ulimit -c 0; kill -ABRT $$' 2>&1 | grep -v dumped
r -o a.sqlite -- ./no-such-program
touch plain; r -o a.sqlite -- ./plain
r -o no/folder/a.sqlite -- true
r -o . -- true
echo mine > taken.sqlite
r -o taken.sqlite -- true
cat taken.sqlite
r --force -o taken.sqlite -- true
r -o '%z' -- true
r --kinds kernels -- true
r --stack-threshold 20 -- true
for t in stack-threshold delay duration; do r --$t -5us -- true; done
r -o a.sqlite
r --no-such-option -- true 2>&1 | sed 's/`/'"'"'/g'
ls
