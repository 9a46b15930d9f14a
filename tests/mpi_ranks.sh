# mpi_ranks.sh - what tests of ranks that are processes share: what they need, a small run, and a rank that is killed. Sourced.
command -v mpirun > /dev/null || { echo "no mpirun (openmpi-bin)"; exit 77; }
[ -f "$BUILD/lib/cpscope/comm_mpi.so" ] || { echo "no comm_mpi.so in this build: no mpicc (libopenmpi-dev)"; exit 77; }
case ${SAN:-} in *thread*) echo "a thread sanitizer cannot see how MPI orders its threads"; exit 77 ;; esac
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 TMPDIR=$PWD # leaks: of MPI's own
small="--device cpu --layers 2 --steps 2 --tokens 256 --seqs 128,128 --hidden 32"
values() { cut -d , -f 1,3,4,5,8-12; } # all but times and memory

ranks_alive() { for r in 0 1 2 3; do kill -0 "$(cat pid.$r)" 2> kill.err && echo "rank $r lives"; done; }
# kill_rank RANK JOB: one of four, which have left their pids in pid.0 to pid.3, once it runs MPI; then nobody is left. The job's
# standard output is in rows, its errors in err.
kill_rank() {
    for i in $(seq 300); do
        [ -s pid.$1 ] && grep -q comm_mpi "/proc/$(cat pid.$1)/maps" && break
        sleep 0.1
    done
    sleep 1
    kill -9 "$(cat pid.$1)"
    start=$SECONDS
    wait $2
    echo "status $?, $(wc -l < rows) rows"
    while [ -n "$(ranks_alive)" ] && [ $((SECONDS - start)) -le 300 ]; do sleep 0.1; done
    ranks_alive
    [ $((SECONDS - start)) -le 300 ] && echo "all have ended"
    tr '\n' ' ' < err | grep -oE "process rank $1 |signal 9 \(Killed\)"
}
