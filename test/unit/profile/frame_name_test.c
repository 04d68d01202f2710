#include "core/profile/table/frame_name.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct name_case {
    struct method method;
    unsigned style;
    const char *name;
};

#define JAVA(class_name, name, signature)                                                          \
    { METHOD_JAVA, class_name, name, signature, "" }
#define CLASS(name)                                                                                \
    { METHOD_CLASS, "", name, "", "" }
#define PLAIN(kind, name, module)                                                                  \
    { kind, "", name, "", module }

static const struct name_case cases[] = {
    {JAVA("java/lang/Thread", "run", "()V"), 0, "java/lang/Thread.run"},
    {JAVA("java/lang/Thread", "run", "()V"), NAME_DOTTED, "java.lang.Thread.run"},
    {JAVA("java/lang/Thread", "run", "()V"), NAME_SIMPLE, "Thread.run"},
    {JAVA("java/lang/Thread", "run", "()V"), NAME_SIGNATURE, "java/lang/Thread.run()V"},
    {JAVA("java/lang/Thread", "run", "(ILjava/lang/String;[[J)V"), NAME_SIGNATURE | NAME_DOTTED,
     "java.lang.Thread.run(int, String, long[][])"},
    {JAVA("Main", "f", "(Lbroken"), NAME_SIGNATURE | NAME_DOTTED, "Main.f()"},
    {JAVA("Main", "f", "nonsense"), NAME_SIGNATURE | NAME_DOTTED, "Main.fnonsense"},
    {JAVA("", "", ""), NAME_DOTTED | NAME_SIGNATURE, ""},
    {JAVA("Main", "main", ""), NAME_DOTTED | NAME_SIMPLE | NAME_MARKS, "Main.main"},

    {JAVA("a/Main$$Lambda$14/0x00007f12a4001000", "run", ""), 0,
     "a/Main$$Lambda$14/0x00007f12a4001000.run"},
    {JAVA("a/Main$$Lambda$14/0x00007f12a4001000", "run", ""), NAME_DOTTED,
     "a.Main$$Lambda$14/0x00007f12a4001000.run"},
    {JAVA("a/Main$$Lambda$14/0x00007f12a4001000", "run", ""), NAME_SIMPLE,
     "Main$$Lambda$14/0x00007f12a4001000.run"},
    {JAVA("a/Main$$Lambda$14/0x00007f12a4001000", "run", ""), NAME_NORMALIZE, "a/Main$$Lambda.run"},
    {JAVA("a/Main$$Lambda$14", "run", ""), NAME_NORMALIZE, "a/Main$$Lambda.run"},
    {JAVA("a/Main$$Lambda+0x00007f12a4001000", "run", ""), NAME_DOTTED,
     "a.Main$$Lambda/0x00007f12a4001000.run"},
    {JAVA("a/Main$$Lambda+0x00007f12a4001000", "run", ""), NAME_DOTTED | NAME_NORMALIZE,
     "a.Main$$Lambda.run"},
    {JAVA("java/lang/invoke/LambdaForm$MH/1234567", "invoke", ""), NAME_NORMALIZE | NAME_SIMPLE,
     "LambdaForm$MH.invoke"},
    /* as JDK 8, 11, 17, 21 and 25 name what they generate: in stack traces, in the VM's symbols,
     * in descriptors */
    {JAVA("N$$Lambda$1/250421012", "run", ""), NAME_NORMALIZE, "N$$Lambda.run"},
    {JAVA("N$$Lambda$1/0x0000000100060840", "run", ""), NAME_NORMALIZE, "N$$Lambda.run"},
    {JAVA("a/N$$Lambda$1+0x00007f92b0000a08", "run", ""), NAME_NORMALIZE, "a/N$$Lambda.run"},
    {JAVA("a/N$$Lambda+0x00007fcac8000a08", "run", ""), NAME_NORMALIZE, "a/N$$Lambda.run"},
    {JAVA("a/N$$Lambda.0x0000000061040210", "run", ""), NAME_NORMALIZE, "a/N$$Lambda.run"},
    {JAVA("a/N$$Lambda.0x0000000061040210", "run", ""), NAME_DOTTED,
     "a.N$$Lambda/0x0000000061040210.run"},
    {JAVA("java/lang/invoke/LambdaForm$DMH/1414644648", "invokeStatic__V", ""),
     NAME_NORMALIZE | NAME_DOTTED, "java.lang.invoke.LambdaForm$DMH.invokeStatic__V"},
    {JAVA("java/lang/invoke/LambdaForm$MH/0x0000000100061440", "invokeExact_MT", ""),
     NAME_NORMALIZE | NAME_SIMPLE, "LambdaForm$MH.invokeExact_MT"},
    {JAVA("java/lang/invoke/LambdaForm$MH+0x00007fcac8001000", "guard", ""),
     NAME_NORMALIZE | NAME_SIMPLE, "LambdaForm$MH.guard"},
    {JAVA("java/lang/invoke/LambdaForm$DMH.0x0000000061040800", "invoke", ""),
     NAME_NORMALIZE | NAME_SIMPLE, "LambdaForm$DMH.invoke"},
    {JAVA("java/lang/invoke/DirectMethodHandle$Holder", "invokeStatic", ""),
     NAME_NORMALIZE | NAME_SIMPLE, "DirectMethodHandle$Holder.invokeStatic"},
    {JAVA("sun/reflect/GeneratedMethodAccessor12", "invoke", ""), NAME_NORMALIZE,
     "sun/reflect/GeneratedMethodAccessor.invoke"},
    {JAVA("jdk/internal/reflect/GeneratedConstructorAccessor3", "newInstance", ""),
     NAME_NORMALIZE | NAME_SIMPLE, "GeneratedConstructorAccessor.newInstance"},
    {JAVA("jdk/internal/reflect/GeneratedSerializationConstructorAccessor1", "newInstance", ""),
     NAME_NORMALIZE | NAME_SIMPLE, "GeneratedSerializationConstructorAccessor.newInstance"},
    {JAVA("sun/reflect/GeneratedMethodAccessor12", "invoke", ""), 0,
     "sun/reflect/GeneratedMethodAccessor12.invoke"},
    {JAVA("com/sun/proxy/$Proxy12", "f", ""), NAME_NORMALIZE, "com/sun/proxy/$Proxy.f"},
    {JAVA("jdk/proxy2/$Proxy12", "f", ""), NAME_NORMALIZE | NAME_DOTTED, "jdk.proxy2.$Proxy.f"},
    {JAVA("$Proxy0", "f", ""), NAME_NORMALIZE, "$Proxy.f"},
    {JAVA("a/Foo$$EnhancerBySpringCGLIB$$1a2b3c4d", "f", ""), NAME_NORMALIZE,
     "a/Foo$$EnhancerBySpringCGLIB.f"},
    {JAVA("a/Foo$$FastClassBySpringCGLIB$$9f", "f", ""), NAME_NORMALIZE,
     "a/Foo$$FastClassBySpringCGLIB.f"},
    {JAVA("a/Foo$$SpringCGLIB$$0", "f", ""), NAME_NORMALIZE, "a/Foo$$SpringCGLIB.f"},
    {JAVA("a/Foo$ByteBuddy$AbCd1234", "f", ""), NAME_NORMALIZE, "a/Foo$ByteBuddy.f"},
    {JAVA("a/Foo$ByteBuddy$AbCd1234$auxiliary$x", "f", ""), NAME_NORMALIZE,
     "a/Foo$ByteBuddy$AbCd1234$auxiliary.f"},
    {JAVA("a/Foo$MockitoMock$123456/0x00007f12a4001000", "f", ""), NAME_NORMALIZE,
     "a/Foo$MockitoMock.f"},
    {JAVA("a/Foo$HibernateProxy$qZ1", "f", ""), NAME_NORMALIZE, "a/Foo$HibernateProxy.f"},
    {JAVA("a/Foo_$$_jvstab3_0", "f", ""), NAME_NORMALIZE, "a/Foo_$$_jvst.f"},
    {JAVA("a/Foo_$$_javassist_12", "f", ""), NAME_NORMALIZE, "a/Foo_$$_javassist.f"},
    {JAVA("a/Foo$Access4JacksonDeserializer53fd30d1", "f", ""), NAME_NORMALIZE,
     "a/Foo$Access4JacksonDeserializer.f"},
    {JAVA("a/Foo$$SpringCGLIB$$0$Inner", "f", ""), NAME_NORMALIZE, "a/Foo$$SpringCGLIB$$0$Inner.f"},
    {JAVA("a/Foo$ByteBuddy$", "f", ""), NAME_NORMALIZE, "a/Foo$ByteBuddy$.f"},
    {JAVA("a/Sha256", "run", ""), NAME_NORMALIZE, "a/Sha256.run"},
    {JAVA("a/Base64$Encoder", "run", ""), NAME_NORMALIZE, "a/Base64$Encoder.run"},
    {JAVA("a/Main$1", "run", ""), NAME_NORMALIZE, "a/Main$1.run"},
    {JAVA("a/1/b", "c", ""), NAME_DOTTED, "a.1.b.c"},

    {CLASS("[B"), NAME_MARKS, "byte[]_[i]"},
    {CLASS("java/lang/String"), NAME_MARKS | NAME_DOTTED, "java.lang.String_[i]"},
    {CLASS("[[Ljava/lang/String;"), NAME_MARKS, "java.lang.String[][]_[i]"},
    {CLASS("[[Ljava/lang/String;"), NAME_DOTTED, "java.lang.String[][]"},
    {CLASS("[[Ljava/lang/String;"), NAME_SIMPLE, "String[][]"},
    {CLASS("[La/Main$$Lambda$3/0x01;"), NAME_NORMALIZE | NAME_DOTTED, "a.Main$$Lambda[]"},
    {CLASS("[Q"), 0, "[Q"},
    {CLASS("["), NAME_DOTTED, "["},
    {CLASS("[Lx"), NAME_DOTTED, "[Lx"},
    {CLASS("B"), 0, "B"},

    {{METHOD_COMPILING, "java/util/HashMap", "get", "(I)V", ""}, 0, "java/util/HashMap.get"},
    {{METHOD_COMPILING, "java/util/HashMap", "get", "(I)V", ""},
     NAME_DOTTED | NAME_SIGNATURE | NAME_MARKS,
     "java.util.HashMap.get(int)"},
    {{METHOD_COMPILING, "java/util/HashMap", "get", "", ""}, NAME_SIMPLE, "HashMap.get"},
    {PLAIN(METHOD_COMPILING, "[unknown_method]", ""), 0, "[unknown_method]"},

    {PLAIN(METHOD_KERNEL, "do_syscall_64", ""), NAME_MARKS, "do_syscall_64_[k]"},
    {PLAIN(METHOD_KERNEL, "do_syscall_64", ""), 0, "do_syscall_64"},
    {PLAIN(METHOD_NATIVE, "read", "libc.so.6"), NAME_LIBRARY | NAME_DOTTED, "libc.so.6`read"},
    {PLAIN(METHOD_NATIVE, "read", ""), NAME_LIBRARY, "read"},
    {PLAIN(METHOD_CPP, "a::b<c/d>(int)", "x"), NAME_DOTTED, "a::b<c/d>(int)"},
    {PLAIN(METHOD_ERROR, "[unknown_Java]", ""), NAME_SIMPLE | NAME_MARKS, "[unknown_Java]"},
    {PLAIN(METHOD_THREAD, "[http/1 tid=7]", ""), NAME_DOTTED, "[http/1 tid=7]"},

    {JAVA("a\x1b[31m", "b\nc\x7f", ""), 0, "a?[31m.b?c?"},
    {JAVA("\xc3\xa4/\xe2\x82\xac", "\xf0\x9f\x98\x80", ""), NAME_DOTTED,
     "\xc3\xa4.\xe2\x82\xac.\xf0\x9f\x98\x80"},
    {PLAIN(METHOD_NATIVE, "\xc2\x9b[2J", ""), 0, "?[2J"},
    {PLAIN(METHOD_NATIVE, "\xff\xc0\x80 \xed\xa0\x80 \xe2\x82", ""), 0, "??? ??? ??"},
};

static void test_forms(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char out[128];
        size_t n = frame_name(&cases[i].method, cases[i].style, out, sizeof out);
        assert_string_equal(out, cases[i].name);
        assert_int_equal(n, strlen(cases[i].name));
    }
}

/* Every limit: nothing beyond it is written, the length is the same, no character is cut. */
static void test_limits(void **state) {
    (void)state;
    const struct method m = JAVA("j/\xe2\x82\xac", "run", "()V");
    const char *whole = "j.\xe2\x82\xac.run()";
    for (size_t size = 0; size <= strlen(whole) + 2; size++) {
        char *out = malloc(size + 1);
        memset(out, '#', size + 1);
        assert_int_equal(frame_name(&m, NAME_DOTTED | NAME_SIGNATURE, out, size), strlen(whole));
        assert_int_equal(out[size], '#');
        if (size > 0) {
            size_t n = strlen(out);
            assert_true(n < size && strncmp(out, whole, n) == 0);
            assert_true(size <= strlen(whole) ? n + 3 >= size : n == strlen(whole));
            assert_true(n != 3 && n != 4);
        }
        free(out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
