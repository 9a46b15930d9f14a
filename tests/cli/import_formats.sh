# Each foreign format through a table: backend, device and times come out the same way whatever the source.
make_db() { sqlite3 "$2" < "$1"; }
make_db "$DATA/import_rpd/launches_copies_fills(ok,events=7,loss=0).sql" matmul.rpd
make_db "$DATA/import_rocprofv1/a_traced_run(ok,events=7,loss=0).sql" v1.db
make_db "$DATA/import_rocpd/tables_of_two_processes(ok,events=6,loss=0).sql" rocpd.db
make_db "$DATA/import_ascend_db/kernels_collectives_calls(ok,events=7,loss=0).sql" ascend.db
cp "$DATA/import_rocprofv3/names_behind_the_records(ok,events=6,loss=0).json" v3.json
cp "$DATA/import_ascend_json/lanes_named_behind(ok,events=9,loss=0).json" trace_view.json
cp "$DATA/import_chrome/streams_of_xla(ok,events=4,loss=0).json" xla.json
for f in matmul.rpd v1.db rocpd.db v3.json ascend.db trace_view.json xla.json; do
    echo "# $f"
    cpscope summary $f --span gpu --format csv | cut -d, -f1-12,20-21 | tail -n +2
    cpscope syncs $f --span all --format csv | cut -d, -f1-6 | tail -n +2
done
echo "not a trace" > notes
tar czf run.tar.gz v3.json trace_view.json notes
cpscope summary run.tar.gz --span gpu --format csv | cut -d, -f1-4,20-21
printf 'report\0\1 binary' > run.nsys-rep
PATH=${PATH%%:*} cpscope summary run.nsys-rep
echo "status $?"
ls
