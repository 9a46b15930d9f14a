# What a person reads: units, what is missing, the window with its base.
cpscope summary "$DATA/analyzer/two_devices.json"
cpscope syncs "$DATA/analyzer/two_devices.json"
cpscope comm "$DATA/analyzer/rank0.json" "$DATA/analyzer/rank1.json"
# Over four ranks a person sees the spread and the worst rank.
mkdir many
for r in 0 1 2 3 4; do sed "s/\"rank\": 0, \"world_size\": 2/\"rank\": $r, \"world_size\": 5/; s/\"dur\": 10,/\"dur\": 1$r,/" "$DATA/analyzer/rank0.json" > many/rank$r.json; done
cpscope comm many
