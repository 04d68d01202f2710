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
LIBS     = -lncursesw -ltinfo -lm -lelf -liberty -lz -lzip -linih -lprotobuf-c -pthread
# What only jtop-prof-http is linked with: a program for `serve` and `push` that jtop-prof becomes.
HTTP_LIBS = -lmicrohttpd -lcurl -lgnutls

# The agent lives in somebody else's process: libc only, any (core/agent/libc.h), nothing exported
# but its entry points, no lazy binding (a resolver must not run in a signal handler), no
# initial-exec TLS, no fortify. Padding between code and constants would be 4 KB of what it may have.
AGENT_CFLAGS  = -include core/agent/libc.h -fPIC -fvisibility=hidden -fno-omit-frame-pointer -fno-stack-protector \
                -U_FORTIFY_SOURCE -ftls-model=global-dynamic
AGENT_LDFLAGS = -shared -Wl,-z,noseparate-code -Wl,-z,now -Wl,-z,relro -Wl,--no-undefined \
                -Wl,-soname,libjtop-agent.so -pthread

LIB_SRC   := $(wildcard core/base/*.c core/wire/*.c core/profile/*.c core/session/*.c \
               core/export/*.c core/import/*.c core/report/*.c core/fleet/*.c attach/*.c symbols/*.c)
TUI_SRC   := $(filter-out tui/http_%.c,$(wildcard tui/*.c))
HTTP_SRC  := $(wildcard core/serve/*.c core/push/*.c tui/http_*.c)
AGENT_SRC := $(wildcard core/agent/*.c core/wire/ring_writer.c core/wire/perf_attr.c)
TEST_SRC  ?= $(wildcard test/unit/*_test.c)
FUZZ_SRC  := $(wildcard test/fuzz/*_fuzz.c)
BENCH_SRC := $(wildcard test/bench/*_bench.c)
NATIVE_LIBS = callback-fp callback-plain memory-early memory-late \
              $(filter-out callback memory method_ids,$(basename $(notdir $(wildcard test/java/native/*.c))))
JAVA_SRC  := $(wildcard test/java/*.java test/java/*/*.java)
LIB_OBJ   := $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/gen/core/export/profile.pb-c.o \
             $(BUILD)/gen/core/export/otlp.pb-c.o
TUI_OBJ   := $(TUI_SRC:%.c=$(BUILD)/%.o)
HTTP_OBJ  := $(HTTP_SRC:%.c=$(BUILD)/%.o)
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/agent/%.o)
ALL_BUT_MAIN = $(LIB_OBJ) $(filter-out $(BUILD)/tui/main.o,$(TUI_OBJ))

all: $(BUILD)/jtop-prof $(BUILD)/jtop-prof-http $(BUILD)/libjtop-agent.so

$(BUILD)/jtop-prof: $(TUI_OBJ) $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/jtop-prof-http: $(filter-out $(BUILD)/tui/http.o,$(TUI_OBJ)) $(HTTP_OBJ) $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(HTTP_LIBS) $(LIBS)

$(BUILD)/libjtop-agent.so: $(AGENT_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) $(AGENT_LDFLAGS) -o $@ $^

# The frontend without a library of the machine it runs on, but for a few files the same.
STATIC_SRC := attach/jvm.c tui/http.c tui/self.c tui/source_finder.c
STATIC_OBJ := $(STATIC_SRC:%.c=$(BUILD)/static/%.o)
$(BUILD)/static/jtop-prof: $(STATIC_OBJ) $(filter-out $(STATIC_SRC:%.c=$(BUILD)/%.o),$(TUI_OBJ) $(LIB_OBJ))
	$(CC) $(CFLAGS) $(LDFLAGS) -static -o $@ $^ $(filter-out -lzip,$(LIBS))

$(BUILD)/static/libjtop-agent.so: $(BUILD)/libjtop-agent.so
	@mkdir -p $(@D)
	cp $< $@

$(BUILD)/static/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -DJTOP_STATIC $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/agent/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# -MMD does not see the files that .incbin compiles in.
include core/export/embed.mk core/serve/embed.mk
$(BUILD)/tui/theme.o: $(wildcard themes/*.theme)

# A unit test is one cmocka program; it may use everything but main. Those named agent_* test what
# runs inside the JVM, and link that instead; serve_* and push_* link what is in jtop-prof-http only.
# A fuzz target wants clang: see test/run.
$(BUILD)/test/unit/agent_%: $(BUILD)/test/unit/agent_%.o $(AGENT_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lcmocka -pthread

$(BUILD)/test/unit/serve_%: $(BUILD)/test/unit/serve_%.o $(HTTP_OBJ) $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter-out %/tui/http.o,$^) $(HTTP_LIBS) $(LIBS) -lcmocka
$(BUILD)/test/unit/push_%: $(BUILD)/test/unit/push_%.o $(HTTP_OBJ) $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter-out %/tui/http.o,$^) $(HTTP_LIBS) $(LIBS) -lcmocka

$(BUILD)/test/unit/%: $(BUILD)/test/unit/%.o $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

$(BUILD)/test/fuzz/agent_%: $(BUILD)/test/fuzz/agent_%.o $(AGENT_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ -pthread

$(BUILD)/test/fuzz/serve_%: $(BUILD)/test/fuzz/serve_%.o $(HTTP_OBJ) $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $(filter-out %/tui/http.o,$^) $(HTTP_LIBS) $(LIBS)
$(BUILD)/test/fuzz/push_%: $(BUILD)/test/fuzz/push_%.o $(HTTP_OBJ) $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $(filter-out %/tui/http.o,$^) $(HTTP_LIBS) $(LIBS)

$(BUILD)/test/fuzz/%: $(BUILD)/test/fuzz/%.o $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS)

$(BUILD)/test/bench/%: $(BUILD)/test/bench/%.o $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# What end-to-end scripts need that the profiler's own command line has not.
$(BUILD)/test/e2e/%: $(BUILD)/test/e2e/%.o $(ALL_BUT_MAIN)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

# A program that says it is a JVM, for portable.py. Over musl's headers go only those of jni.h.
$(BUILD)/test/musl/host-%: test/musl/host.c $(wildcard core/wire/*.h) Makefile
	@mkdir -p $(@D)
	$(if $(filter musl,$*),musl-gcc,$(CC)) $(CPPFLAGS) -g -O1 -std=gnu11 $(WARN) -rdynamic -o $@ \
	    $< -pthread -ldl

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

# The same code as two libraries, one of which is loaded late.
$(BUILD)/java/libmemory-%.so: test/java/native/memory.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -O2 -DKIND=$(if $(filter early,$*),Early,Late) -shared -fPIC -o $@ $< -pthread
$(BUILD)/java/lib%.so: test/java/native/%.c Makefile
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -O2 -fno-omit-frame-pointer -shared -fPIC -o $@ $< -pthread

unit-tests: $(TEST_SRC:%.c=$(BUILD)/%)
fuzz-targets: $(FUZZ_SRC:%.c=$(BUILD)/%)
bench-programs: $(BENCH_SRC:%.c=$(BUILD)/%) $(PROBE)
java: $(BUILD)/java/done $(NATIVE_LIBS:%=$(BUILD)/java/lib%.so) $(BUILD)/test/e2e/switcher $(BUILD)/test/e2e/fleeter
objects: $(LIB_OBJ) $(TUI_OBJ) $(HTTP_OBJ) $(AGENT_OBJ)

static: $(BUILD)/static/jtop-prof $(BUILD)/static/libjtop-agent.so

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
# The agent in a JVM of musl, which is built first, and in one of an old glibc.
test-musl:
	@.ci/setup musl && BUILD=$(BUILD) test/musl/run $(ONLY)
lint:
	@.ci/setup lint && BUILD=$(BUILD) test/lint/run
bench:
	@.ci/setup run && $(MAKE) --no-print-directory all java && BUILD=$(BUILD) test/bench/run $(ONLY)

# The parts of the manual that come from the program's tables; a unit test says where they differ.
MAN = man/jtop-prof.1 man/jtop-prof.5 man/jtop-prof.7
man: $(BUILD)/jtop-prof
	@for page in $(MAN); do \
	    $(BUILD)/jtop-prof --manual $${page##*.} >$(BUILD)/tables && \
	    sed -e '/^\.\\" Made from the tables/,/^\.\\" So far from the tables/{/Made from/r $(BUILD)/tables' \
	        -e '/Made from/b' -e '/So far from/b' -e d -e '}' $$page >$(BUILD)/page && \
	    cp $(BUILD)/page $$page || exit 1; \
	done

# Where each shell looks for completions.
PROGRAM ?= $(BUILD)/jtop-prof
SHARE = $(DESTDIR)$(PREFIX)/share
install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/jtop-prof \
	    $(SHARE)/man/man1 $(SHARE)/man/man5 $(SHARE)/man/man7 $(SHARE)/jtop-prof/themes \
	    $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions \
	    $(SHARE)/fish/vendor_completions.d
	install -m 755 $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/jtop-prof
	$(if $(filter $(BUILD)/jtop-prof,$(PROGRAM)),install -m 755 $(BUILD)/jtop-prof-http \
	    $(DESTDIR)$(PREFIX)/lib/jtop-prof)
	install -s -m 755 $(BUILD)/libjtop-agent.so $(DESTDIR)$(PREFIX)/lib/jtop-prof
	install -m 644 man/jtop-prof.1 $(SHARE)/man/man1
	install -m 644 man/jtop-prof.5 $(SHARE)/man/man5
	install -m 644 man/jtop-prof.7 $(SHARE)/man/man7
	install -m 644 themes/*.theme $(SHARE)/jtop-prof/themes
	for shell in bash zsh fish; do \
	    $(BUILD)/jtop-prof --completion $$shell >$(BUILD)/completion.$$shell || exit 1; \
	done
	install -m 644 $(BUILD)/completion.bash $(SHARE)/bash-completion/completions/jtop-prof
	install -m 644 $(BUILD)/completion.zsh $(SHARE)/zsh/site-functions/_jtop-prof
	install -m 644 $(BUILD)/completion.fish $(SHARE)/fish/vendor_completions.d/jtop-prof.fish

uninstall:
	rm -rf $(DESTDIR)$(PREFIX)/lib/jtop-prof $(SHARE)/jtop-prof
	rm -f $(DESTDIR)$(PREFIX)/bin/jtop-prof $(SHARE)/man/man1/jtop-prof.1 \
	    $(SHARE)/man/man5/jtop-prof.5 $(SHARE)/man/man7/jtop-prof.7 \
	    $(SHARE)/bash-completion/completions/jtop-prof $(SHARE)/zsh/site-functions/_jtop-prof \
	    $(SHARE)/fish/vendor_completions.d/jtop-prof.fish

# One tar that works wherever it is unpacked.
DIST = jtop-prof-$(VERSION)-linux-$(shell uname -m)
dist: STAGE = $(BUILD)/dist
dist: static
	rm -rf $(STAGE)
	$(MAKE) --no-print-directory PROGRAM=$(BUILD)/static/jtop-prof DESTDIR=$(STAGE)/ \
	    PREFIX=$(DIST) install
	strip $(STAGE)/$(DIST)/bin/jtop-prof
	install -m 644 README.md LICENSE $(STAGE)/$(DIST)
	tar -C $(STAGE) --sort=name --owner=0 --group=0 --numeric-owner -czf $(BUILD)/$(DIST).tar.gz \
	    $(DIST)
	rm -rf $(STAGE)

deb: STAGE = $(abspath $(BUILD))/deb
deb: all
	rm -rf $(STAGE)
	$(MAKE) --no-print-directory DESTDIR=$(STAGE) PREFIX=/usr install
	.packaging/deb $(STAGE) $(VERSION) $(BUILD)
	rm -rf $(STAGE)

clean:
	rm -rf $(BUILD) test/out

.PHONY: all unit-tests fuzz-targets bench-programs java objects static run test test-jdks soak \
        test-aarch64 test-musl lint bench man install uninstall dist deb clean
.SECONDARY:
-include $(wildcard $(patsubst %.o,%.d,$(LIB_OBJ) $(TUI_OBJ) $(HTTP_OBJ) $(AGENT_OBJ) $(STATIC_OBJ) \
     $(patsubst %.c,$(BUILD)/%.o,$(TEST_SRC) $(FUZZ_SRC) $(BENCH_SRC) test/e2e/switcher.c test/e2e/fleeter.c)))
