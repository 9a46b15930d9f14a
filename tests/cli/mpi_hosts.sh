# Ranks on two hosts: two network namespaces with a cable between them, mpirun in one of them, its daemon in the other.
. "$ROOT/tests/mpi_ranks.sh"
[ "$(id -u)" = 0 ] || { echo "only root may make network namespaces"; exit 77; }
command -v ip > /dev/null || { echo "no ip (iproute2)"; exit 77; }
a=cpsa$$ b=cpsb$$
away() { ip netns del $a; ip netns del $b; } 2> away.err
trap away EXIT
ip netns add $a 2> err && ip netns add $b 2> err && ip link add va$$ netns $a type veth peer name vb$$ netns $b 2> err ||
    { echo "no network namespaces here: $(head -n 1 err)"; exit 77; }
for x in "$a va$$ 1" "$b vb$$ 2"; do
    set -- $x
    ip -n $1 addr add 10.77.0.$3/24 dev $2
    ip -n $1 link set $2 up
    ip -n $1 link set lo up
done
cat > agent << END # mpirun calls it as: agent HOST COMMAND...
#!/bin/sh
shift
exec ip netns exec $b unshare --uts sh -c "hostname hostb; \$*"
END
chmod +x agent
export OMPI_MCA_plm_rsh_agent=$PWD/agent OMPI_MCA_btl=tcp,self OMPI_MCA_oob_tcp_if_include=10.77.0.0/24 OMPI_MCA_btl_tcp_if_include=10.77.0.0/24
hosts() { # hosts COMMAND: four ranks, two on each host
    timeout 600 ip netns exec $a unshare --uts sh -c "hostname hosta; exec mpirun --allow-run-as-root --host 10.77.0.1:2,10.77.0.2:2 -np 4 -x PATH -x TMPDIR $*"
}
crossed() { ip netns exec $a cat /sys/class/net/va$$/statistics/tx_bytes; }

for o in "--mode gdn.chunkwise" "--mode gdn.state_p2p --dtype bf16" "--mode attn.kvag.direct1" "--mode attn.ring.zigzag --tp 2 --cp 2"; do
    o="$small --cp 4 $o"
    cpbench run $o | values > threads
    before=$(crossed)
    hosts cpbench run $o --comm mpi 2> err | values > mpi
    echo "${o#"$small" }: $(cmp threads mpi && echo the same bits), $([ $(($(crossed) - before)) -gt 50000 ] && echo over the cable)"
done

echo "- a trace a rank, and where it ran"
hosts cpscope record -o "'t-%q{OMPI_COMM_WORLD_RANK}.sqlite'" -- cpbench run $small --cp 4 --mode gdn.chunkwise --comm mpi > rows 2> err
for r in 0 1 2 3; do sqlite3 t-$r.sqlite "SELECT key, value FROM meta WHERE key IN ('host', 'rank', 'world') ORDER BY 1" | tr '\n' ' '; echo; done
cpscope ranks t-?.sqlite --format csv | cut -d , -f 1,2

echo "- a rank of the other host is killed"
hosts "sh -c 'echo \$\$ > pid.\$OMPI_COMM_WORLD_RANK; exec cpbench run $small --cp 4 --mode gdn.chunkwise --comm mpi --steps 200000'" > rows 2> err &
kill_rank 3 $!
