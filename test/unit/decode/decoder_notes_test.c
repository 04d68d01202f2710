/* What the stream says about itself: text, and what is told to people. */
#include "core/base/clean_text.h"
#include "test/unit/decode/decoder_fixture.h"

static void test_text_is_clean(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } text[] = {
        {"plain", "plain"},
        {"\x1b]0;title\x07", "?]0;title?"},
        {"\x7f\xc2\x9b\xc2\xa0", "??\xc2\xa0"},           /* DEL, C1, and a space that is fine */
        {"\xed\xa0\xbd\xed\xb8\x80", "\xf0\x9f\x98\x80"}, /* a pair of surrogates */
        {"\xed\xa0\xbd.", "?."},                          /* half of one */
        {"\xc3\xa4\xe2\x82\xac", "\xc3\xa4\xe2\x82\xac"},
        {"\xff\xc3", "??"},
        {"\xe2\x82", "??"},
        {"\xc1\x81\xf4\x90\x80\x80", "??????"}, /* overlong; beyond Unicode */
        {"exe.\xe2\x80\xae"
         "fdp\xe2\x80\xa8\xe2\x81\xa9",
         "exe.?fdp??"}, /* turned around, and ends of lines */
    };
    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        char out[64];
        size_t n = clean_text(out, sizeof out, text[i].in, strlen(text[i].in));
        assert_string_equal(out, text[i].out);
        assert_int_equal(n, strlen(out));
    }
    char out[4];
    assert_int_equal(clean_text(out, sizeof out, "ab\xe2\x82\xac", 5), 2); /* cut between */
    assert_string_equal(out, "ab");
    assert_int_equal(clean_field(out, sizeof out, "abcd", 3), 3);
}

/* What the agent tells about its work is kept line by line, warnings are not among it. */
static void test_news(void **state) {
    (void)state;
    struct stage s;
    open_stage(&s);
    const struct decoder_notes *n = &s.decoder->notes;
    recording_log(&s.r, 2, "recompiled A.a");
    recording_log(&s.r, 1, "--precise has no effect");
    recording_log(&s.r, 2, "recompiled\n\x1b[2J B.b");
    play(&s);
    assert_string_equal(n->news, "recompiled A.a\nrecompiled??[2J B.b\n");
    assert_int_equal(n->news_bytes, strlen(n->news));
    assert_string_equal(n->latest, "recompiled??[2J B.b");
    assert_string_equal(n->log, "--precise has no effect");
    assert_int_equal(n->logs, 1);
    assert_int_equal(n->news_left_out, 0);
    close_stage(&s);
}

/* The first ones stay, the last one is known, the others are counted. */
static void test_news_are_bounded(void **state) {
    (void)state;
    enum { LINES = 300, FITS = (DECODER_NEWS_BYTES - 1) / 20 };
    struct stage s;
    open_stage(&s);
    const struct decoder_notes *n = &s.decoder->notes;
    char line[1001] = "";
    for (int i = 1; i <= LINES; i++) {
        snprintf(line, sizeof line, "recompiled C.m%05d", i);
        recording_log(&s.r, 2, line);
    }
    play(&s);
    assert_int_equal(strlen(line) + 1, 20);
    assert_int_equal(n->news_left_out, LINES - FITS);
    assert_int_equal(n->news_bytes, FITS * 20);
    assert_int_equal(strlen(n->news), FITS * 20);
    assert_memory_equal(n->news, "recompiled C.m00001\n", 20);
    snprintf(line, sizeof line, "recompiled C.m%05d\n", FITS);
    assert_string_equal(n->news + (FITS - 1) * 20, line);
    assert_string_equal(n->latest, "recompiled C.m00300");

    memset(line, 'x', sizeof line - 1);
    recording_log(&s.r, 2, line); /* one that is too long is cut */
    play(&s);
    assert_int_equal(strlen(n->latest), sizeof n->latest - 1);
    recording_log(&s.r, 2, "to the end: 15"); /* what still fits is taken */
    recording_log(&s.r, 2, "");
    play(&s);
    assert_int_equal(n->news_left_out, LINES - FITS + 2);
    assert_int_equal(n->news_bytes, DECODER_NEWS_BYTES - 1);
    assert_int_equal(strlen(n->news), DECODER_NEWS_BYTES - 1);
    assert_string_equal(n->latest, "");
    close_stage(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_is_clean),
        cmocka_unit_test(test_news),
        cmocka_unit_test(test_news_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
