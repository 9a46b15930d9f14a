/* test_packed.c - an event comes out of a ring as it went in, and out of a damaged one not at all or harmlessly. */
#include "unit.h"

#include "schemas/packed.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 4096 };

static int64_t some(int64_t none)
{
    return rnd(2) ? none : (int64_t)rnd(1u << 20);
}

static const char *some_text(void)
{
    static const char *const texts[] = {"", "forward", "a longer name than eight bytes"};
    return rnd(2) ? NULL : texts[rnd(3)];
}

/* Often one with no more than a name and a group. */
static struct activity random_activity(void)
{
    static const struct site site = {"function", "file.c", 7};
    struct activity a = ACTIVITY_NONE;
    a.start = (int64_t)rnd(1u << 30) - 1000;
    a.end = a.start + (int64_t)rnd(1000);
    a.what = ACT_EVENT;
    a.kind = (uint8_t)rnd(EV_NKINDS);
    a.sync_class = (uint8_t)rnd(6);
    a.copy_kind = (uint8_t)rnd(6);
    a.did_block = (int8_t)((int)rnd(3) - 1);
    a.name = some_text();
    a.group = some_text();
    if (!rnd(4))
        return a;
    a.correlation = some(-1);
    a.bytes = some(-1);
    a.sequence = some(-1);
    a.rank = (int32_t)some(-1);
    a.device = (int32_t)some(-1);
    a.stream = (int32_t)some(-1);
    a.peer = (int32_t)some(-1);
    a.group_size = (int32_t)some(-1);
    a.text = some_text();
    a.function = some_text();
    a.site = rnd(2) ? &site : NULL;
    a.transient = rnd(2);
    return a;
}

static void same_text(const char *a, const char *b, bool address)
{
    if (!a || !b || address)
        assert_ptr_equal(a, b);
    else
        assert_string_equal(a, b);
}

static void same(const struct activity *a, const struct emit_as *as, const struct slot *s)
{
    const int64_t want[] = {a->start, a->end,          a->correlation, a->bytes,      a->sequence,  a->rank,      a->device, a->stream,   a->peer,
                            a->what,  a->kind,         a->group_size,  a->sync_class, a->copy_kind, a->did_block, 77,        as->flavour, as->stack,
                            0,        as->more != NULL};
    const int64_t got[] = {s->start, s->end,        s->correlation, s->bytes,     s->sequence,  s->rank, s->device,  s->stream, s->peer, s->what,
                           s->kind,  s->group_size, s->sync_class,  s->copy_kind, s->did_block, s->tid,  s->flavour, s->stack,  s->heap, s->more};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (want[i] != got[i])
            fail_msg("number %zu is %lld, was %lld", i, (long long)got[i], (long long)want[i]);
    assert_int_equal(a->transient, s->transient);
    same_text(a->name, s->name, !a->transient);
    same_text(a->text, s->text, !a->transient);
    assert_ptr_equal(a->group, s->group);
    assert_ptr_equal(a->function, s->function);
    assert_ptr_equal(a->site, s->site);
}

/* What a kind does not have of it is left out; here the part that every kind with one has. */
static bool has_more(int kind)
{
    return kind == EV_KERNEL || kind == EV_COMM || kind == EV_MEMCPY || kind == EV_MEMSET || kind == EV_SYNC || kind == EV_RUNTIME;
}

TEST(an_event_comes_out_as_it_went_in)
{
    PROP(20000)
    {
        _Alignas(8) char room[ROOM];
        union emit_more more = {.copy = {1, 2, 3}};
        struct activity a = random_activity();
        struct emit_as as = {0, (int32_t)rnd(3), rnd(2) ? &more : NULL, rnd(2) ? 0 : rnd(1000) + 1};
        memset(room, 0x5a, sizeof room);
        size_t n = packed_put(room, &a, &as, 77, NULL);
        size_t texts = a.transient ? (a.name ? strlen(a.name) + 1 : 0) + (a.text ? strlen(a.text) + 1 : 0) : 0;
        struct slot s;
        assert_true(n % 8 == 0 && n <= PACKED_MOST + texts);
        for (size_t i = PACKED_MOST + texts; i < ROOM; i++)
            assert_int_equal(room[i], 0x5a);
        assert_int_equal(packed_get(room, n, &s), n);
        same(&a, &as, &s);
        if (as.more && has_more(a.kind))
            assert_memory_equal(&s.beyond.copy, &more.copy, sizeof more.copy);
        assert_int_equal(packed_get(room, rnd((unsigned)n), &s), 0);
    }
}

TEST(texts_on_the_heap_keep_their_address)
{
    static const char both[] = "name\0text";
    _Alignas(8) char room[ROOM];
    struct activity a = ACTIVITY_NONE;
    struct slot s;
    a.transient = true;
    a.name = "name";
    a.text = "text";
    assert_true(packed_get(room, packed_put(room, &a, &(struct emit_as){0}, 1, both), &s) && s.heap);
    assert_ptr_equal(s.name, both);
    assert_ptr_equal(s.text, both + 5);
    a.name = NULL;
    assert_true(packed_get(room, packed_put(room, &a, &(struct emit_as){0}, 1, both), &s) && s.heap);
    assert_null(s.name);
    assert_ptr_equal(s.text, both);
}

/* Texts that are read lie inside; the addresses of others are not looked at. */
TEST(damage_is_refused_or_harmless)
{
    PROP(20000)
    {
        struct activity a = random_activity();
        struct slot s;
        char *room = malloc(ROOM);
        size_t n = packed_put(room, &a, &(struct emit_as){0}, 1, NULL);
        char *tight = memcpy(malloc(n), room, n);
        for (unsigned i = 0; i <= rnd(4); i++)
            tight[rnd((unsigned)n)] ^= (char)(1 << rnd(8));
        size_t got = packed_get(tight, n, &s);
        bool behind = got && s.transient && !s.heap;
        assert_true(got <= n);
        if (behind && s.name)
            assert_true(s.name >= tight && s.name + strlen(s.name) < tight + n);
        if (behind && s.text)
            assert_true(s.text >= tight && s.text + strlen(s.text) < tight + n);
        free(tight);
        free(room);
    }
}

UNIT_MAIN(UNIT(an_event_comes_out_as_it_went_in), UNIT(texts_on_the_heap_keep_their_address), UNIT(damage_is_refused_or_harmless))
