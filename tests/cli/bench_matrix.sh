# cpbench matrix and calibrate: an experiment of ours on the sim device, whose every time repeats exactly.
cat > small <<'EOF'
title   = A small experiment
intro   = Two modes & one that <refuses>
machine = h200x8
fit     = gemm_share framework_op_ns
[defaults]
args = train --config tiny --device sim --host-cost framework --cp 2 --steps 2 --log -
[table T]
title    = Modes
measures = step_s tok_per_s ratio
base     = two
note     = A note
[run one]
table = T
title = chunkwise
role  = fitted
args  = --mode gdn.chunkwise
seed.step_s = 0.01
[run two]
table = T
title = headwise
role  = predicted
args  = --mode gdn.headwise.per_seq
seed.step_s = 0.02
[run three]
table   = T
title   = replicated
args    = --mode gdn.replicated_allgather
refuses = --recompute
[table C]
title    = Counts
measures = comm_calls sync:resolve
[run four]
table   = C
title   = recorded
record  = yes
command = run --device sim --cp 2 --layers 2 --mode gdn.chunkwise
seed.comm_calls = 16
EOF
echo "== text"
cpbench matrix small -o out --repeat 2 | sed 's/ *[0-9.]* *seed/ N seed/; s/\(step s\|tok\/s\) *[0-9.]*$/\1 N/; s/ [-+][0-9.]* %/ E %/; s/\(step s\|tok\/s\|base\)  *[0-9.]*  *repeats/\1 N repeats/; s/base  *[0-9.]*$/base N/'
echo "== csv"
cut -d , -f 1-3,5,7- out/results.csv
echo "== page"
grep -c '<tr><th scope="row">' out/index.html
grep -o 'one that &#60;refuses&#62;' out/index.html
grep -c 'src=\|href=\|<script' out/index.html
echo "== a fit looks at fitted cells only"
cpbench calibrate h200x8 --to small -o fitted 2> err > first; cat err | sed 's/[0-9]\+/N/'
awk -F, 'NR == 1 || $3 == 1 { print $1, $3 }' first
awk -F, 'in_cells && NF > 1 { print $1, $2, ($4 < 5 && $4 > -5 ? "close" : $4) } /^cell/ { in_cells = 1 }' first
sed 's/seed.step_s = 0.02/seed.step_s = 0.2/' small > other
cpbench calibrate h200x8 --to other -o again 2> err > second
cmp first second && sed 's/again/fitted/' again | cmp - fitted && echo "another predicted cell changes nothing"
sed 's/seed.step_s = 0.01/seed.step_s = 0.02/' small > third
cpbench calibrate h200x8 --to third 2> err | cmp -s - first || echo "another fitted cell changes the constants"
cpbench train --config tiny --device sim --machine fitted --host-cost framework --cp 2 --steps 1 --log - --mode gdn.chunkwise | awk -F, 'NR == 2 { print ($5 > 9e6 && $5 < 11e6) ? "the fitted machine gives that time" : $5 }'
echo "== what is wrong"
wrong() { printf "$1" > bad; cpbench matrix bad -o bad.out; echo "exit $?"; }
wrong 'nokey = 1\n'
wrong '[what]\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_z\n[run r]\ntitle = r\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\nbase = none\n[run r]\ntitle = r\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\n[run r]\ntitle = r\ntable = U\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\n[run r]\ntitle = r\nseed.step_s = fast\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\n[run r]\ntitle = r\nrole = guessed\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\n[run r]\ntitle = r\ncommand = run --mode nosuch\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\n[run r]\ntitle = r\ncommand = run --device sim --mode gdn.chunkwise\nrefuses = no\n'
cpbench matrix nosuch; echo "exit $?"
cpbench calibrate h200x8; echo "exit $?"
cpbench calibrate nosuch --to small; echo "exit $?"
for m in s0 s0-trace s0-accuracy s3 s4-accuracy s4-perf; do cpbench matrix $m -o /dev/null/x 2>&1 | sed "s/^/$m: /"; done
