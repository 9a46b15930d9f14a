# What a person reads: units, what is missing, the window with its base.
cpscope summary "$DATA/analyzer/two_devices.json"
cpscope syncs "$DATA/analyzer/two_devices.json"
cpscope comm "$DATA/analyzer/rank0.json" "$DATA/analyzer/rank1.json"
