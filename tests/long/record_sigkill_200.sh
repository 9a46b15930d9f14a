# verdict: exit status. Two hundred kills.
KILLS=200 bash "$ROOT/tests/cli/record_sigkill.sh"
