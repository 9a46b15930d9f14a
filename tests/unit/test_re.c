/* test_re.c - which patterns are compiled, and that none takes the library long. */
#include "analyzer/re.h"
#include "unit.h"

static const char *compiled(const char *text)
{
    static char why[RE_WHY];
    regex_t re;
    const char *wrong = re_compile(&re, text, why);
    if (!wrong)
        regfree(&re);
    return wrong;
}

TEST(patterns_as_people_write_them)
{
    static const char *const good[] = {"",
                                       "a",
                                       "^(ab+)+$",
                                       "thd_route|first",
                                       "[[:alpha:]]+[^]]*",
                                       "x{2,5}y{3}",
                                       "a\\+\\+\\+\\+\\+",
                                       "((a|b)*c)?d",
                                       "(a)(b",
                                       "route.*#[0-9]+$",
                                       "^step|^(warmup|ProfilerStep)#[0-9]+$"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        const char *why = compiled(good[i]);
        if (strcmp(good[i], "(a)(b") == 0)
            assert_non_null(strstr(why, "Unmatched"));
        else if (why)
            fail_msg("%s: %s", good[i], why);
    }
    regex_t re;
    char why[RE_WHY];
    assert_null(re_compile(&re, "b+c$", why));
    assert_int_equal(regexec(&re, "abbc", 0, NULL, 0), 0);
    assert_int_equal(regexec(&re, "abbcd", 0, NULL, 0), REG_NOMATCH);
    regfree(&re);
}

/* Each would be written out to some 2^60 or 10^9 atoms. */
TEST(repetitions_of_repetitions_are_refused)
{
    static const char *const bad[] = {
        "a++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++", "((((((((((((((((a+)+)+)+)+)+)+)+)+)+)+)+)+)+)+)+",
        "(((a{999}){999}){999})", "x{1,32000}{1,32000}", "(a|b+){30000}",
        /* what is repeated is no atom of its own: a bracket that nothing opened, an anchor, nothing */
        ")+++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++", "^+++++++++++++++++++++++++++++++++++++++++++++",
        "a|+++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++", "a*+?+*++++++++++++++++++++++++++++++++++++++++",
        "+++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++", "()+++++++++++++++++++++++++++++++++++++++++++++",
        "$+++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++++", /* slow to compile, not large */
        "allow*????++++++++", "w??????????+++++++++", "a{9999999999999999999}{-5}{9223372036854775807}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const char *why = compiled(bad[i]);
        if (!why || !strstr(why, "too much"))
            fail_msg("%s: %s", bad[i], why ? why : "compiled");
    }
    char deep[1000];
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    assert_non_null(strstr(compiled(deep), "too deeply"));
}

UNIT_MAIN(UNIT(patterns_as_people_write_them), UNIT(repetitions_of_repetitions_are_refused))
