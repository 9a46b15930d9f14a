# Installed with DESTDIR, the programs run and record from there; man pages and completions are for every command.
flock "$BUILD/bin" make -s -C "$ROOT" BUILD="$BUILD" install DESTDIR="$PWD/root" PREFIX=/usr > log 2>&1 || { tail -n 5 log; exit 1; }
export PATH=$PWD/root/usr/bin:$PATH
cpscope --version
cpscope record -o t.sqlite -- cpbench run --device cpu --mode gdn.chunkwise --cp 2 --tokens 256 --seqs 256 --hidden 32 --kheads 2 --vheads 4 --dk 8 --dv 8 2>&1 | cut -d, -f1
cpscope summary t.sqlite --format csv | cut -d, -f1,2
(cd root/usr && find . -type f | sort | grep -vE '/man1/|/(device_cuda|comm_nccl).so') # modules for CUDA: where there was a toolkit
for p in cpscope cpbench; do
    for c in $($p --help | sed -nE 's/^  ([a-z]+)  +.*/\1/p'); do [ -s root/usr/share/man/man1/$p-$c.1 ] || echo "no man page: $p $c"; done
done
bash -n root/usr/share/bash-completion/completions/cpscope && echo "completion reads"
cat > complete.sh <<'BASH'
for p in cpscope cpbench; do . root/usr/share/bash-completion/completions/$p; done
try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _$1; echo "$*: ${COMPREPLY[*]}"; }
try cpscope su
try cpscope gate --base
try cpscope gate --format s
try cpscope diff --table ''
try cpscope export --to ''
try cpscope help s
try cpscope summary log
try cpbench run --mode gdn.h
try cpbench run --attn-mode = attn.ring
try cpbench run --machine h | grep -o '.*: h200x8 '
try cpbench train --config s
try cpbench matrix s4
BASH
bash complete.sh
