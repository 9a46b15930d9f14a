# cpbench matrix and calibrate: an experiment of ours on the sim device, whose every time repeats exactly.
cat > small <<'EOF'
title   = A small experiment
intro   = Two modes & one that <refuses>
machine = h200x8
fit     = framework_op_ns
[claim calls]
title = the calls of the seed
holds = four.comm_calls == seed:four.comm_calls and |C/sync:resolve| <= 2*four.sync:resolve
[claim fewer]
title = reads <once>
holds = four.sync:resolve < four.comm_calls and C/sync:resolve < 6
[claim unknown]
title = what was not run
holds = three.step_s > 0
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
seed.step_s = 0.625
left_out.step_s = 2.5
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
cpbench matrix small -o out --repeat 2 | sed 's/most [0-9.]* % off/most N % off/; s/ *[0-9.]* *seed/ N seed/; s/\(step s\|tok\/s\) *[0-9.]*$/\1 N/; s/ [-+][0-9.]* %/ E %/; s/\(step s\|tok\/s\|base\)  *[0-9.]*  *repeats/\1 N repeats/; s/base  *[0-9.]*$/base N/'
echo "== csv"
cut -d , -f 1-3,5,7- out/results.csv
echo "== page"
grep -c '<tr><th scope="row">' out/index.html
grep -o 'one that &#60;refuses&#62;' out/index.html
grep -o '<p class="outside">[^.]*</p>' out/index.html
grep -c 'src=\|href=\|<script' out/index.html
echo "== a fit looks at fitted cells only"
cpbench calibrate h200x8 --to small -o fitted 2> err > first; cat err | sed 's/[0-9]\+/N/'
awk -F, 'NR == 1 || $3 == 1 { print $1, $3 }' first
awk -F, 'in_cells && NF > 1 { print $1, $2, ($4 < 5 && $4 > -5 ? "close" : $4) } /^cell/ { in_cells = 1 }' first
sed 's/seed.step_s = 0.02/seed.step_s = 0.2/' small > other
cpbench calibrate h200x8 --to other -o again 2> err > second
cmp first second && sed 's/again/fitted/' again | cmp - fitted && echo "another predicted cell changes nothing"
sed 's/seed.step_s = 0.625/seed.step_s = 0.75/' small > third
cpbench calibrate h200x8 --to third 2> err | cmp -s - first || echo "another fitted cell changes the constants"
cpbench train --config tiny --device sim --machine fitted --host-cost framework --cp 2 --steps 1 --log - --mode gdn.chunkwise | awk -F, 'NR == 2 { print ($5 > 59e7 && $5 < 66e7) ? "the fitted machine gives that time" : $5 }'
sed 's/^fit .*/fit = gemm_share framework_op_ns/' small > loose
cpbench calibrate h200x8 --to loose; echo "exit $?"
echo "== several measures of a run are fitted, its others are predicted; the page says how that went"
cat > mixed <<'EOF'
title = Mixed
machine = h200x8
fit = framework_layer_ns
cells = span_s kernel_s
limit = 15
[defaults]
args = train --config tiny --device sim --host-cost framework --cp 2 --steps 1 --log - --mode gdn.chunkwise
[table T]
title = One run
measures = span_s kernel_s comm_s op_syncs
[run r]
table = T
title = a run
role = fitted
record = yes
seed.span_s = 1.2
seed.kernel_s = 0.006
seed.comm_s = 1
seed.op_syncs = 6
[table again]
title = The same once more
measures = op_syncs step_s
also = r
EOF
cpbench calibrate h200x8 --to mixed -o mixed.machine 2> err | awk -F, '$3 == 1 { print $1, $3 } in_cells && NF > 1 { print $1, $2 } /^cell/ { in_cells = 1 }'
sed -i 's/^machine = .*/machine = mixed.machine/' mixed
cpbench matrix mixed -o mixed.out | sed 's/[-+.0-9]* % off/N % off/; s/comm s [-+.0-9]* %/comm s N %/' | sed -n '1,4p'
cut -d , -f 1-3,7,8 mixed.out/results.csv
grep -o 'span s, kernels s fitted, rest predicted, modelled' mixed.out/index.html
grep -c '"outside"' mixed.out/index.html
echo "== left-out errors are those of the machine's fit, or the page says so"
cpbench calibrate h200x8 --to mixed -o mixed.machine 2> err > fit.csv
cpbench matrix mixed --left-out fit.csv > kept
diff mixed kept | sed 's/= [-+0-9].*/= N/; s/left_out_of = .*/left_out_of = HASH/'
said() { cpbench matrix $1 -o mixed.out | grep 'Left-out errors' || echo "$1: nothing to say"; }
said kept
sed 's/^left_out.span_s = .*/left_out.span_s = 5.5/' kept > byhand; said byhand
sed 's/seed.span_s = 1.2/seed.span_s = 1.3/' kept > figure; said figure
sed -i 's/^nvlink_hop_ns .*/nvlink_hop_ns = 77/' mixed.machine; said kept
cpbench matrix kept --left-out fit.csv; echo "exit $?"
cpbench matrix figure --left-out mixed; echo "exit $?"
cpbench matrix figure --left-out nosuch; echo "exit $?"
echo "== what is wrong"
wrong() { printf "$1" > bad; cpbench matrix bad -o bad.out; echo "exit $?"; }
wrong 'nokey = 1\n'
wrong '[what]\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_z\n[run r]\ntitle = r\ntable = T\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\nbase = none\n[run r]\ntitle = r\ntable = T\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\n[run r]\ntitle = r\ntable = U\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\n[run r]\ntitle = r\ntable = T\nseed.step_s = fast\n'
wrong 'title = x\n[table T]\ntitle = t\nmeasures = step_s\n[run r]\ntitle = r\ntable = T\nrole = guessed\n'
t='title = x\n[table T]\ntitle = t\nmeasures = step_s\n' r='[run r]\ntitle = r\ntable = T\ncommand = list\n'
wrong "$t$r$r"
wrong "$t$r[table T]\n"
wrong "$t[run ../../r]\n"
wrong "$t[run r]\ntitle = r\ntable = T\n"
wrong "$t[table U]\ntitle = u\nmeasures = step_s\n$r"
wrong "${t}also = q\n$r"
wrong "${t}curve = yes\n$r"
wrong "$t${r}[claim c]\ntitle = c\n"
wrong "$t${r}[claim c]\nholds = r.step_s < 1\n"
wrong "$t${r}[claim c]\ntitle = c\nholds = r.step_s <\n"
wrong "$t${r}[claim c]\ntitle = c\nholds = r.step_s << 1\n"
wrong "$t${r}[claim c]\ntitle = c\nholds = r.step_s < 1 and q.step_s < 1\n"
wrong "$t${r}[claim c]\ntitle = c\nholds = |U/step_s| < 1\n"
wrong "$t${r}[claim c]\ntitle = c\nholds = T/step_z < 1\n"
wrong "$t${r}[claim c]\ntitle = c\nholds = r.step_s < seed:r.step_s\n"
wrong "cells = step_z\n$t$r"
wrong "limit = 0\n$t$r"
wrong "machine = nosuch\n$t$r"
wrong "$t${r}seed.step_s = 1\nseed.step_s = 1\n"
wrong "$t[run r]\ntitle = r\ntable = T\ncommand = run --mode nosuch\n"
wrong "$t[run r]\ntitle = r\ntable = T\ncommand = run --device sim --mode gdn.chunkwise\nrefuses = no\n"
cpbench matrix s0-acuracy; echo "exit $?"
cpbench matrix nosuch; echo "exit $?"
cpbench calibrate h200x8; echo "exit $?"
cpbench calibrate nosuch --to small; echo "exit $?"
for m in s0 s0-trace s0-accuracy s3 s4-accuracy s4-perf; do cpbench matrix $m -o /dev/null/x 2>&1 | sed "s/^/$m: /"; done
