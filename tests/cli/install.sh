# Installed with DESTDIR, the programs run and record from there; man pages and completions are for every command.
make -s -C "$ROOT" BUILD="$BUILD" install DESTDIR="$PWD/root" PREFIX=/usr > log 2>&1 || { tail -n 5 log; exit 1; }
export PATH=$PWD/root/usr/bin:$PATH
cpscope --version
cpscope record -o t.sqlite -- cpbench run --device cpu --mode gdn.chunkwise --cp 2 --tokens 256 --seqs 256 --hidden 32 --kheads 2 --vheads 4 --dk 8 --dv 8 2>&1 | cut -d, -f1
cpscope summary t.sqlite --format csv | cut -d, -f1,2
(cd root/usr && find . -type f | sort | grep -vE '/man1/|/(device_cuda|comm_nccl).so') # modules for CUDA: where there was a toolkit
for p in cpscope cpbench; do
    for c in $($p --help | sed -nE 's/^  ([a-z]+)  +.*/\1/p'); do [ -s root/usr/share/man/man1/$p-$c.1 ] || echo "no man page: $p $c"; done
done
bash -n root/usr/share/bash-completion/completions/cpscope && echo "completion reads"
bash -c '. root/usr/share/bash-completion/completions/cpscope; COMP_WORDS=(cpscope gate --base); COMP_CWORD=2; _cpscope; echo "${COMPREPLY[@]}"; COMP_WORDS=(cpscope su); COMP_CWORD=1; _cpscope; echo "${COMPREPLY[@]}"'
