/* Decoding: every code point goes through, everything else is one bad byte at a time; lines are cut by columns. */
#include "unit.h"

#include "reports/glyph.h"
#include "schemas/utf8.h"

TEST(every_character_survives)
{
    for (uint32_t cp = 1; cp <= 0x10FFFF; cp++) {
        char buf[8] = {0};
        uint32_t back;
        if (cp >= 0xD800 && cp <= 0xDFFF)
            continue;
        size_t n = utf8_bytes(cp, buf);
        if (glyph_next(buf, &back) != n || back != cp || strlen(buf) != n)
            fail_msg("U+%04X comes back as U+%04X", (unsigned)cp, (unsigned)back);
    }
}

TEST(what_is_not_utf8_is_one_byte)
{
    static const char *const bad[] = {
        "\x80",     "\xc0\xaf", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80",
        "\xe2\x82", "\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t cp;
        assert_int_equal(glyph_next(bad[i], &cp), 1);
        assert_int_equal(cp, GLYPH_BAD);
    }
}

TEST(lines_are_cut_by_columns)
{
    char buf[64];
    assert_int_equal(glyph_line("abcdef", 6, buf, sizeof buf), 6);
    assert_string_equal(buf, "abcdef");
    assert_int_equal(glyph_line("abcdefg", 6, buf, sizeof buf), 6);
    assert_string_equal(buf, "abcde\u2026");
    assert_int_equal(glyph_line("\u65e5\u672c\u8a9e", 5, buf, sizeof buf), 5); /* two wide ones and the ellipsis */
    assert_string_equal(buf, "\u65e5\u672c\u2026");
    assert_int_equal(glyph_line("a\u0301b", 2, buf, sizeof buf), 2); /* a combining mark takes no column */
    assert_int_equal(glyph_line("a\n\u202eb\xff", 9, buf, sizeof buf), 5);
    assert_string_equal(buf, "a??b?");
    assert_int_equal(glyph_middle("dir/file.c:name", 9, buf, sizeof buf), 9);
    assert_string_equal(buf, "di\u2026c:name");
    assert_int_equal(glyph_middle("dir/file.c:name", 15, buf, sizeof buf), 15);
    assert_string_equal(buf, "dir/file.c:name");
    assert_int_equal(glyph_middle("a\u65e5\u672c\u8a9e\u65e5", 6, buf, sizeof buf), 6); /* a wide one that has no room leaves a column */
    assert_string_equal(buf, "a\u2026\u8a9e\u65e5");
}

/* Never over its room, never over its columns, whatever comes in. */
TEST(lines_stay_in_their_room)
{
    PROP(5000)
    {
        char in[200], buf[80];
        size_t n = rnd(sizeof in), size = 8 + rnd(sizeof buf - 8);
        int columns = (int)rnd(60) + 1;
        for (size_t i = 0; i < n; i++)
            in[i] = (char)(1 + rnd(255));
        in[n ? n - 1 : 0] = 0;
        memset(buf, 'x', sizeof buf);
        int used = (rnd(2) ? glyph_line : glyph_middle)(in, columns, buf, size);
        assert_true(used <= columns);
        assert_true(strlen(buf) < size);
        for (size_t i = size; i < sizeof buf; i++)
            assert_int_equal(buf[i], 'x');
    }
}

UNIT_MAIN(UNIT(every_character_survives), UNIT(what_is_not_utf8_is_one_byte), UNIT(lines_are_cut_by_columns), UNIT(lines_stay_in_their_room))
