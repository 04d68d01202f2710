# jtop-prof: `make run` looks at a JVM, `make test` checks everything. The rest is below.
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
CFLAGS  ?= -O2 -g
VERSION := 0.1.0

# jni.h and jvmti.h are the only things of a JDK that the build needs.
JAVA_HOME ?= $(patsubst %/bin/javac,%,$(realpath $(shell command -v javac)))

WARN     = -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Wpedantic
override CPPFLAGS += -I. -D_GNU_SOURCE -DJTOP_VERSION='"$(VERSION)"' \
                     -isystem $(JAVA_HOME)/include -isystem $(JAVA_HOME)/include/linux
override CFLAGS   += -std=gnu11 $(WARN) $(WERROR)
LIBS     = -lncursesw -ltinfo -lelf -liberty -lz -pthread

# The agent lives in somebody else's process: libc only, nothing exported but its entry points, no
# lazy binding (a resolver must not run in a signal handler), no initial-exec TLS, no fortify.
AGENT_CFLAGS  = -fPIC -fvisibility=hidden -fno-omit-frame-pointer -fno-stack-protector \
                -U_FORTIFY_SOURCE -ftls-model=global-dynamic
AGENT_LDFLAGS = -shared -Wl,-z,now -Wl,-z,relro -Wl,--no-undefined -Wl,-soname,libjtop-agent.so \
                -pthread

LIB_SRC   := $(wildcard core/base/*.c core/wire/*.c core/profile/*.c core/session/*.c \
               core/export/*.c core/serve/*.c attach/*.c symbols/*.c)
TUI_SRC   := $(wildcard tui/*.c)
AGENT_SRC := $(wildcard core/agent/*.c core/wire/ring_writer.c)
TEST_SRC  ?= $(wildcard test/unit/*_test.c)
FUZZ_SRC  := $(wildcard test/fuzz/*_fuzz.c)
BENCH_SRC := $(wildcard test/bench/*_bench.c)
JAVA_SRC  := $(wildcard test/java/*.java test/java/*/*.java)
LIB_OBJ   := $(LIB_SRC:%.c=$(BUILD)/%.o)
TUI_OBJ   := $(TUI_SRC:%.c=$(BUILD)/%.o)
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/agent/%.o)
ALL_BUT_MAIN = $(LIB_OBJ) $(filter-out $(BUILD)/tui/main.o,$(TUI_OBJ))

all: $(BUILD)/jtop-prof $(BUILD)/libjtop-agent.so

$(BUILD)/jtop-prof: $(TUI_OBJ) $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libjtop-agent.so: $(AGENT_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) $(AGENT_LDFLAGS) -o $@ $^

$(BUILD)/agent/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# -MMD does not see the files that .incbin compiles in.
include core/export/embed.mk
$(BUILD)/tui/theme.o: themes/default.theme

# A unit test is one cmocka program; it may use everything but main. Those named agent_* test what
# runs inside the JVM, and link that instead. A fuzz target wants clang: see test/run.
$(BUILD)/test/unit/agent_%: $(BUILD)/test/unit/agent_%.o $(AGENT_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka -pthread

$(BUILD)/test/unit/%: $(BUILD)/test/unit/%.o $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

$(BUILD)/test/fuzz/%: $(BUILD)/test/fuzz/%.o $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

$(BUILD)/test/bench/%: $(BUILD)/test/bench/%.o $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# The agent with a stopwatch, for walk_bench.py.
PROBE := $(BUILD)/test/bench/libwalk-probe.so
$(PROBE): $(BUILD)/agent/test/bench/walk_probe.o $(AGENT_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) $(AGENT_LDFLAGS) -o $@ $^

$(BUILD)/java/done: $(JAVA_SRC)
	@mkdir -p $(@D)
	javac --release 8 -Xlint:-options -d $(@D) $^ && touch $@

# C code that Java calls and that calls Java: with frame pointers, and with unwind tables only.
$(BUILD)/java/libcallback-fp.so: test/java/native/callback.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -O2 -fno-omit-frame-pointer -DKIND=Fp -shared -fPIC \
	    -o $@ $<
$(BUILD)/java/libcallback-plain.so: test/java/native/callback.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -O2 -fomit-frame-pointer -DKIND=Plain -DWITHOUT_FRAME_POINTER -shared -fPIC \
	    -o $@ $<

unit-tests: $(TEST_SRC:%.c=$(BUILD)/%)
fuzz-targets: $(FUZZ_SRC:%.c=$(BUILD)/%)
bench-programs: $(BENCH_SRC:%.c=$(BUILD)/%) $(PROBE)
java: $(BUILD)/java/done $(BUILD)/java/libcallback-fp.so $(BUILD)/java/libcallback-plain.so
objects: $(LIB_OBJ) $(TUI_OBJ) $(AGENT_OBJ)

# These first install what is missing (.ci/setup says what and why), then make what they need.
run:
	@.ci/setup run && $(MAKE) --no-print-directory all java && BUILD=$(BUILD) test/demo $(PID)
test:
	@.ci/setup test && BUILD=$(BUILD) test/run $(ONLY)
# The walker's tests on every JDK; the hostile mix for MINUTES on each; the agent for aarch64.
test-jdks:
	@.ci/setup test && BUILD=$(BUILD) test/jdks $(ONLY)
soak:
	@.ci/setup test && BUILD=$(BUILD) test/soak
test-aarch64:
	@.ci/setup aarch64 && BUILD=$(BUILD) test/aarch64/run $(ONLY)
lint:
	@.ci/setup lint && BUILD=$(BUILD) test/lint/run
bench:
	@.ci/setup run && $(MAKE) --no-print-directory all java && BUILD=$(BUILD) test/bench/run $(ONLY)

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/jtop-prof \
	    $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/jtop-prof/themes
	install -m 755 $(BUILD)/jtop-prof $(DESTDIR)$(PREFIX)/bin
	install -s -m 755 $(BUILD)/libjtop-agent.so $(DESTDIR)$(PREFIX)/lib/jtop-prof
	install -m 644 man/jtop-prof.1 $(DESTDIR)$(PREFIX)/share/man/man1
	install -m 644 themes/*.theme $(DESTDIR)$(PREFIX)/share/jtop-prof/themes

uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/lib/jtop-prof $(DESTDIR)$(PREFIX)/share/jtop-prof
	rm -f $(DESTDIR)$(PREFIX)/bin/jtop-prof $(DESTDIR)$(PREFIX)/share/man/man1/jtop-prof.1

clean:
	rm -rf $(BUILD) test/out

.PHONY: all unit-tests fuzz-targets bench-programs java objects run test test-jdks soak \
        test-aarch64 lint bench install uninstall clean
.SECONDARY:
-include $(wildcard $(patsubst %.o,%.d,$(LIB_OBJ) $(TUI_OBJ) $(AGENT_OBJ) \
     $(patsubst %.c,$(BUILD)/%.o,$(TEST_SRC) $(FUZZ_SRC) $(BENCH_SRC))))
