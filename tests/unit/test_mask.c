/* test_mask.c - secrets in command lines, and names of recordings. */
#include "unit.h"

#include "schemas/mask.h"
#include "schemas/outname.h"

#include <unistd.h>

static const struct {
    const char *argv[6];
    const char *want;
} lines[] = {
    {{"prog", "--tokens", "1024", "--lr", "3e-4"}, "prog --tokens 1024 --lr 3e-4"},
    {{"prog", "--token", "1024"}, "prog --token ***"},
    {{"prog", "--hf-token=abc", "x"}, "prog --hf-token=*** x"},
    {{"env", "WANDB_API_KEY=abc", "MODE=1", "prog"}, "env WANDB_API_KEY=*** MODE=1 prog"},
    {{"prog", "--Password", "abc", "def"}, "prog --Password *** def"},
    {{"prog", "--use-token", "--other", "x"}, "prog --use-token --other x"},
    {{"sh", "-c", "export my_secret=abc; run --api-key 'k1' in.txt"}, "sh -c \"export my_secret=***; run --api-key '***' in.txt\""},
    {{"curl", "-H", "Authorization: Bearer abc"}, "curl -H \"Authorization: Bearer ***\""},
    {{"git", "clone", "https://me:pw@host/x@y:z"}, "git clone https://me:***@y:z"},
    {{"git", "clone", "https://host:80/x"}, "git clone https://host:80/x"},
    {{"prog", "", "a b"}, "prog \"\" \"a b\""},
    {{"prog", "TOKENS=abc", "MAX_TOKENS=12"}, "prog TOKENS=*** MAX_TOKENS=12"},
};

TEST(secrets_are_masked)
{
    struct arena a = {0};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        size_t n = 0;
        while (n < 6 && lines[i].argv[n])
            n++;
        assert_string_equal(mask_command(&a, lines[i].argv, n), lines[i].want);
    }
    arena_free(&a);
}

/* Whatever stands around it, the value of a secret is not in the line; and the line never outgrows its room. */
TEST(no_secret_gets_through)
{
    static const char *const words[] = {"--key", "A_TOKEN=hush", "hush", "x y", "--n=1", "", "'", "K=", "=", "https://u:hush@h/"};
    PROP(3000)
    {
        struct arena a = {0};
        const char *argv[8];
        size_t n = rnd(8);
        bool told = false; /* a bare "hush" is a secret only behind --key */
        for (size_t i = 0; i < n; i++) {
            argv[i] = words[rnd(10)];
            told |= strcmp(argv[i], "hush") == 0 && (i == 0 || strcmp(argv[i - 1], "--key") != 0);
        }
        const char *line = mask_command(&a, argv, n);
        if (!told && strstr(line, "hush"))
            fail_msg("%s", line);
        arena_free(&a);
    }
}

static void expands_to(const char *pattern, const char *want)
{
    char got[256];
    struct err e = {0};
    bool ok = outname_expand(pattern, got, sizeof got, &e);
    assert_int_equal(ok, want != NULL);
    if (want)
        assert_string_equal(got, want);
}

TEST(names_are_expanded)
{
    char want[64];
    snprintf(want, sizeof want, "a%d.sqlite", (int)getpid());
    setenv("CPSCOPE_TEST_VAR", "x/y", 1);
    setenv("RANK", "3", 1);
    setenv("WORLD_SIZE", "8", 1);
    expands_to("a%p.sqlite", want);
    expands_to("a%%-%r-%q{CPSCOPE_TEST_VAR}", "a%-3-x_y");
    expands_to("%q{CPSCOPE_NOT_SET}b", "b");
    expands_to("%z", NULL);
    expands_to("%q{A", NULL);
    expands_to("%", NULL);
    assert_int_equal(launch_env().world, 8);
    unsetenv("RANK");
    unsetenv("WORLD_SIZE");
    expands_to("%r", "0");
    assert_true(outname_varies("a%p") && outname_varies("%h%r") && !outname_varies("%h%%p") && !outname_varies("ab"));
}

/* Each launcher by its own variables; what stands in front counts, and what is no number does not. */
TEST(launchers_are_known)
{
    static const struct {
        const char *rank, *local_rank, *world;
    } of[] = {{"RANK", "LOCAL_RANK", "WORLD_SIZE"},
              {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"},
              {"PMI_RANK", "MPI_LOCALRANKID", "PMI_SIZE"},
              {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"}};
    enum { N = sizeof of / sizeof *of };
    char host[256] = "", want[300];
    for (int i = N - 1; i >= 0; i--) { /* each is in front of those set before it */
        char rank[8], local_rank[8], world[8];
        snprintf(rank, sizeof rank, "%d", 10 * i + 7);
        snprintf(local_rank, sizeof local_rank, "%d", i + 1);
        snprintf(world, sizeof world, "%d", 64 + i);
        setenv(of[i].rank, rank, 1);
        setenv(of[i].local_rank, local_rank, 1);
        setenv(of[i].world, world, 1);
        struct launch l = launch_env();
        assert_true(l.rank == 10 * i + 7 && l.local_rank == i + 1 && l.world == 64 + i);
        expands_to("%r", rank);
    }
    setenv("RANK", "seven", 1);
    assert_int_equal(launch_env().rank, 17); /* OMPI's */
    unsetenv("OMPI_COMM_WORLD_SIZE");
    assert_int_equal(launch_env().world, -1); /* not another launcher's */
    for (int i = 0; i < N; i++) {
        unsetenv(of[i].rank);
        unsetenv(of[i].local_rank);
        unsetenv(of[i].world);
    }
    assert_int_equal(launch_env().rank, -1);
    gethostname(host, sizeof host - 1);
    snprintf(want, sizeof want, "a.%s.b", host);
    expands_to("a.%h.b", want);
}

TEST(later_processes_take_other_names)
{
    char got[256], want[256];
    struct launch none = {-1, -1, -1}, third = {3, 0, 8};
    int pid = (int)getpid();
    outname_try("d.x/run.sqlite", 0, none, got, sizeof got);
    assert_string_equal(got, "d.x/run.sqlite");
    outname_try("d.x/run.sqlite", 1, third, got, sizeof got);
    assert_string_equal(got, "d.x/run.r3.sqlite");
    snprintf(want, sizeof want, "d.x/run.r3.%d", pid);
    outname_try("d.x/run", 2, third, got, sizeof got);
    assert_string_equal(got, want);
    snprintf(want, sizeof want, "d.x/.run.%d.3", pid);
    outname_try("d.x/.run", 4, none, got, sizeof got);
    assert_string_equal(got, want);
    assert_false(outname_try("run.sqlite", 0, none, got, 5));
}

TEST(glob_finds_what_was_taken)
{
    char got[256];
    struct err e = {0};
    outname_glob("a*%p.sqlite", false, got, sizeof got, &e);
    assert_string_equal(got, "a\\**.sqlite");
    outname_glob("run.sqlite", true, got, sizeof got, &e);
    assert_string_equal(got, "run.*.sqlite");
}

UNIT_MAIN(UNIT(secrets_are_masked), UNIT(no_secret_gets_through), UNIT(names_are_expanded), UNIT(launchers_are_known),
          UNIT(later_processes_take_other_names), UNIT(glob_finds_what_was_taken))
