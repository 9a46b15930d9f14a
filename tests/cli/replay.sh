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
