# The replay and what stands on it: a change's gain, the path, ten lines; nothing to replay is said.
cp "$DATA"/analyzer/two_devices.json .
show() { echo "\$ cpscope $*"; cpscope "$@" -q; echo "status $?"; }
show critical two_devices.json --format csv
show whatif two_devices.json --format csv
show whatif two_devices.json --drop-syncs cudaStreamSynchronize
show whatif two_devices.json --scale 'gemm=0.5' --format csv --filter step_ns
show explain two_devices.json
show whatif two_devices.json --drop-range nosuch
show whatif two_devices.json --drop-syncs '['
show whatif two_devices.json --scale gemm
show explain nosuch.json
show explain two_devices.json -o said.txt
wc -l < said.txt
# Two hosts: readings of the wall clock go before the ends of collectives, and parts keep them.
mkdir hosts
for r in 0 1; do
    cpscope import "$DATA/analyzer/rank$r.json" -o hosts/rank$r.sqlite 2> /dev/null
    sqlite3 hosts/rank$r.sqlite "INSERT INTO clock SELECT 'realtime', own - 10, wall, own + 10 FROM (SELECT t + $r * (4970000 + t / 10000) AS own,
        1700000000000000000 + t AS wall FROM (SELECT 0 AS t UNION SELECT 1000000)); INSERT INTO meta VALUES ('boot_id', 'host $r')"
    cpscope reduce hosts/rank$r.sqlite -o host$r.part
done
show ranks hosts
show critical hosts --format csv
for t in ranks critical; do cpscope $t hosts > of_traces; cpscope $t host0.part host1.part | diff of_traces - && echo "$t of parts: the same"; done
for r in 0 1; do sqlite3 hosts/rank$r.sqlite "UPDATE meta SET value = 'one host' WHERE key = 'boot_id'"; done
cpscope ranks hosts | sed -n '2,4p;/boot/p'
