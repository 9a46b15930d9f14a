# The gate: a baseline passes its own run and a longer one, fails a new site and a higher rate, and never judges what cannot be compared.
cp "$DATA"/gate_*.json .
cpscope gate gate_before.json --update-baseline sync.baseline; echo "status $?"
cat sync.baseline
gate() { cpscope gate "$@" --format csv; echo "status $?"; }
gate gate_before.json --baseline sync.baseline
gate gate_longer.json --baseline sync.baseline   # 3 steps against 2, and code moved by 100 lines
gate gate_after.json --baseline sync.baseline
gate gate_after.json --baseline gate_before.json # a trace is a baseline too
gate gate_other_gpu.json --baseline sync.baseline
mkdir two && cp gate_before.json two/0.json && sed 's/"rank": 0/"rank": 1/' gate_before.json > two/1.json
gate two --baseline sync.baseline                # a rank more than the baseline was made from
rm -r two
gate gate_after.json                             # nothing to compare with is not a pass
rules() { printf '%s\n' "$1" > my.rules; shift; gate "$@" --rules my.rules; }
rules 'syncs.count where site ~ "router" sum <= 0   # the router must not read back' gate_before.json
rules 'syncs.count where site ~ "router" sum <= 0   # the router must not read back' gate_after.json
rules 'syncs.count in range ~ "^ProfilerStep#1$" sum <= 3' gate_before.json
rules 'summary.busy_pct min >= 1.8 %' gate_before.json
rules 'summary.busy_pct min >= 1.8001 %' gate_before.json
rules 'summary.span_ns max <= 2 ms' gate_before.json
rules 'summary.span_ns max < 2 ms' gate_before.json
rules 'comm.calls sum <= 0' gate_before.json
rules 'syncs.bubble_ns sum <= baseline * 0.5' gate_before.json --baseline gate_before.json
printf 'syncs.count per site <= baseline\nallow router # deliberate\nallow gone # was removed\n' > allow.rules
cpscope gate gate_after.json --baseline gate_before.json --rules allow.rules; echo "status $?"
echo 'syncs.cuont sum <= 1' > bad.rules
gate gate_before.json --rules bad.rules
gate gate_before.json --baseline absent.baseline
printf 'cpscope baseline 1\nunits steps=2\nrule x\n    many y\n' > torn.baseline
gate gate_before.json --baseline torn.baseline
printf 'cpscope baseline 2\nunits steps=2\n' > torn.baseline
gate gate_before.json --baseline torn.baseline
gate gate_before.json --update-baseline /dev/full/x
gate gate_before.json --baseline sync.baseline -o sync.baseline
gate gate_before.json --rules allow.rules --update-baseline allow.rules
gate gate_before.json --baseline sync.baseline --update-baseline new.baseline
gate --aa gate_before.json gate_before.json --baseline sync.baseline
sed 's/$/\r/' sync.baseline > crlf.baseline   # as a checkout may leave it
gate gate_before.json --baseline crlf.baseline
ls
