# The library adds nothing to a program's names but its doors, and needs no SQLite of the program's.
lib=$BUILD/lib/libcpscope.so
names=$(nm -D --defined-only "$lib" | awk '{print $NF}' | sed 's/@.*//')
echo "not a door:" $(echo "$names" | grep -vE '^(InitializeInjection[A-Za-z0-9]*|ncclProfiler_v[0-9]+|cpscope_.*)$')
echo "$names" | grep -E '^(InitializeInjection|InitializeInjectionNvtx2|cpscope_api)$' | sort
echo "libsqlite3 needed:" $(readelf -d "$lib" | grep -c sqlite)
# What each thread has of its own must fit where a program has room for libraries that come late: then every door is one.
echo "more than 1 KB a thread:" $(readelf -lW "$lib" | awk '$1 == "TLS" && length($6) > 5 && $6 > "0x000400"' | wc -l)
