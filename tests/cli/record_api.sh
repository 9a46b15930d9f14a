# cpscope.h: a program built without the library, as C and as C++, recorded and not recorded.
${CC:-cc} -std=c99 -Wall -Wextra -Werror -pedantic -I"$ROOT" "$ROOT/tests/fake/api_user.c" -o user -ldl || exit 1
printf '#include "collector/cpscope.h"\nint main() { cpscope_step(1); }\n' > x.cc
! command -v c++ > /dev/null || c++ -Wall -Wextra -Werror -I"$ROOT" -fsyntax-only x.cc
./user
cpscope record -o a.sqlite -- ./user
sqlite3 a.sqlite "SELECT s.value, r.flavour, count(*) FROM event e JOIN range r ON r.event = e.id JOIN string s ON s.id = e.name GROUP BY 1, 2 ORDER BY 1, 2"
echo "layers outside a step:" $(sqlite3 a.sqlite "WITH x AS (SELECT e.*, s.value FROM event e JOIN string s ON s.id = e.name)
    SELECT count(*) FROM x l WHERE l.value LIKE 'layer#%' AND NOT EXISTS (SELECT 1 FROM x s WHERE s.value LIKE 'step#%' AND s.start <= l.start AND s.\"end\" >= l.\"end\")")
