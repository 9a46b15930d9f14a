# What a model gave says so: every table, every plot, the comparison and the page of a recording on the sim device.
cpscope record -o sim.sqlite -- cpbench run --mode gdn.chunkwise --attn-mode attn.ring.zigzag --layers 4 --device sim --cp 2 --steps 2 --route naive \
    > /dev/null 2> err || cat err
for t in comm cp critical idle kernels overlap ranges ranks repeats steps summary syncs "whatif --drop-range thd_route"; do
    n=$(cpscope $t sim.sqlite | grep -c "SIMULATED")
    json=$(cpscope $t sim.sqlite --format json | grep -c '"backend": "sim"')
    echo "$t: $n note, json $((json > 0))"
done
for k in breakdown syncs timeline steps wait; do
    cpscope plot $k sim.sqlite -o $k.svg && echo "$k: $(grep -o '>[^<]*modelled[^<]*<' $k.svg)"
done
for t in headline syncs kernels comm; do echo "diff $t: $(cpscope diff sim.sqlite sim.sqlite --table $t | grep -e SIMULATED -e '  backend: ')"; done
cpscope explain sim.sqlite | grep -o "backend sim (SIMULATED[^)]*)"
cpscope report sim.sqlite -o page.html && grep -o "sim backend (modelled, not measured)" page.html
grep -o "this run: SIMULATED[^<]*" page.html
echo "of another route, of another width:"
for o in "--route interval" "--tp 2"; do
    cpscope record -o other.sqlite --force -- cpbench run --mode gdn.chunkwise --attn-mode attn.ring.zigzag --layers 4 --device sim --cp 2 --steps 2 \
        --route naive $o > /dev/null 2> err || cat err
    cpscope diff sim.sqlite other.sqlite 2>&1 | grep -e " against "
done
