# Import: one warning line when something was lost, one error line when nothing could be read; OUT whole or not at all.
k=$DATA/import_kineto
say() { "$@"; echo "status $?"; }
say cpscope import "$k/plain(ok,events=2,loss=0).json" -o plain.db
say cpscope import "$k/plain(ok,events=2,loss=0).json" -o plain.db
say cpscope summary plain.db --span gpu --format csv
cp "$k/cut_in_a_string(ok,events=2,loss=1).json" cut.json
cp "$k/bare_nan_and_infinity(ok,events=1,loss=1).json" nan.json
say cpscope import cut.json -o cut.db
say cpscope summary cut.json --span gpu --format csv
say cpscope import nan.json -o nan.db
cp "$k/malformed_event_in_the_middle(ok,events=2,loss=1).json" middle.json
say cpscope import middle.json -o middle.db
: > empty.json
head -c 3000 /dev/zero > zero.sqlite
for f in empty.json zero.sqlite; do say cpscope summary $f; done
cp "$k/cut_in_the_first_event(fail).json" first.json
say cpscope import first.json -o none.db
say cpscope import cut.json -o no/such/folder/x.db
sqlite3 foreign.sqlite < "$DATA/import_nsys/another_database(fail).sql"
say cpscope summary foreign.sqlite
sqlite3 nsys.sqlite < "$DATA/import_nsys/kernels_and_calls(ok,events=3,loss=0).sql"
say cpscope summary nsys.sqlite --span gpu --format csv
# What a file is that is no trace, or a part of one.
mkdir odd
printf '\377\330\377\340 JFIF' > odd/photo.jpg
printf '\377\376{\000}\000' > odd/wide.json
printf 'SQLite for' > odd/start.db
head -c 4096 plain.db > odd/cut.db
head -c 4096 nsys.sqlite > odd/cut.sqlite
for f in odd/*; do say cpscope summary $f 2>&1 | sed 's/[0-9]* of [0-9]* bytes/N of M bytes/'; done
for f in odd/cut.db odd/absent odd nsys.sqlite cut.json odd/photo.jpg plain.db; do say cpscope recover $f 2>&1 | sed 's/[0-9]* of [0-9]* bytes/N of M bytes/'; done
rm -r odd
say cpscope import plain.db cut.json -o both.db
# Databases are read packed as well, and nothing stays of the copy.
mkdir tmp run
gzip -k nsys.sqlite
zstd -q plain.db
cp nsys.sqlite plain.db run
tar czf run.tar.gz run
for f in nsys.sqlite plain.db; do
    cpscope kernels "$f" --format csv > want
    for p in "$f".[gz]* run.tar.gz/run/$f; do
        TMPDIR=tmp cpscope kernels "$p" --format csv 2>&1 | sed "s|${p##*/}|$f|" | cmp - want && echo "same: $p"
    done
done
TMPDIR=tmp cpscope summary run.tar.gz --span gpu --format csv | wc -l
head -c 500 nsys.sqlite.gz > cut.sqlite.gz
TMPDIR=tmp say cpscope summary cut.sqlite.gz
ls tmp
rm -r tmp run run.tar.gz want nsys.sqlite.gz plain.db.zst cut.sqlite.gz
# A loss and no answer are one line; what a folder holds beside its traces is said.
printf '[{"ph":"X","cat":"cpu_op","name":"a","pid":1,"tid":1,"ts":1,"dur":2},{"ph":"X","ca' > host.json
say cpscope summary host.json
mkdir job job/again
cp plain.db job/rank0.sqlite
: > job/rank1.json
echo '{"lr": 1}' > job/config.json
say cpscope summary job --span gpu --format csv
say cpscope summary job --span gpu --format csv -q
rm -r job
sqlite3 cut.db "SELECT reason, count FROM loss"
ls
