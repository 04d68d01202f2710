# jtop-prof: `make run` looks at a JVM, `make test` checks a change, `make test-all` everything.
# V=1 shows the commands. As many jobs run at once as there are processors, unless -j says other.
PREFIX  ?= /usr/local
DESTDIR ?=
BUILD   ?= build
CFLAGS  ?= -O2 -g
VERSION := 0.1.0

.DEFAULT_GOAL := all
MAKEFLAGS += --no-print-directory
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += --jobs=$(shell nproc)
endif
# What begins with these sets up the machine or measures it, and calls make for the rest.
ifneq ($(filter run test% lint% soak bench clean,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
Q   = $(if $(V),,@)
say = $(if $(V),,@echo "  $1 $2")

# jni.h and jvmti.h are the only things of a JDK that the build needs.
JAVA_HOME ?= $(patsubst %/bin/javac,%,$(realpath $(shell command -v javac)))

WARN     = -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Wpedantic
override CPPFLAGS += -I. -D_GNU_SOURCE -DJTOP_VERSION='"$(VERSION)"' \
                     -isystem $(JAVA_HOME)/include -isystem $(JAVA_HOME)/include/linux
override CFLAGS   += -std=gnu11 $(WARN) $(WERROR)
LIBS     = -lncursesw -ltinfo -lm -lelf -liberty -lz -linih -lpcre2-8 -lprotobuf-c -ldl -pthread
# The name by which core/source/source_archive.c loads libzip, of the one there is headers of.
LIBZIP  := $(shell readelf -d "$$($(CC) -print-file-name=libzip.so)" 2>&1 | sed -n 's/.*SONAME.*\[\(.*\)\]/\1/p')
$(BUILD)/core/source/source_archive.o: override CPPFLAGS += -DJTOP_LIBZIP='"$(or $(LIBZIP),libzip.so.4)"'
# What only jtop-prof-http is linked with: a program for `serve` and `push` that jtop-prof becomes.
HTTP_LIBS = -lmicrohttpd -lcurl -lgnutls

# The agent lives in somebody else's process: libc only, any (core/agent/libc.h), nothing exported
# but its entry points, no lazy binding (a resolver must not run in a signal handler), no
# initial-exec TLS, no fortify. Padding between code and constants would be 4 KB of what it may have.
AGENT_CFLAGS  = -include core/agent/libc.h -fPIC -fvisibility=hidden -fno-omit-frame-pointer -fno-stack-protector \
                -U_FORTIFY_SOURCE -ftls-model=global-dynamic
AGENT_LDFLAGS = -shared -Wl,-z,noseparate-code -Wl,-z,now -Wl,-z,relro -Wl,--no-undefined \
                -Wl,-soname,libjtop-agent.so -pthread

# Every .c file of these rooms and of the rooms in them.
sources    = $(sort $(shell find $1 -name '*.c'))
LIB_SRC   := $(call sources,core/base core/wire core/event core/decode core/record core/profile \
               core/session core/export core/import core/report core/source core/http/fleet attach symbols)
TUI_SRC   := $(filter-out tui/cli/http/http_%.c,$(call sources,tui))
HTTP_SRC  := $(call sources,core/http/serve core/http/push) $(wildcard tui/cli/http/http_*.c)
AGENT_SRC := $(call sources,core/agent) core/wire/ring_writer.c core/wire/perf_attr.c
TEST_SRC  ?= $(filter %_test.c,$(call sources,test/unit))
FUZZ_SRC  := $(wildcard test/fuzz/*_fuzz.c)
BENCH_SRC := $(wildcard test/bench/*_bench.c)
NATIVE_LIBS = callback-fp callback-plain memory-early memory-late \
              $(filter-out callback memory method_ids,$(basename $(notdir $(wildcard test/java/native/*.c))))
JAVA_SRC  := $(wildcard test/java/*.java test/java/*/*.java)
LIB_OBJ   := $(LIB_SRC:%.c=$(BUILD)/%.o) $(BUILD)/gen/core/export/pprof/profile.pb-c.o \
             $(BUILD)/gen/core/export/otlp/otlp.pb-c.o
TUI_OBJ   := $(TUI_SRC:%.c=$(BUILD)/%.o)
HTTP_OBJ  := $(HTTP_SRC:%.c=$(BUILD)/%.o)
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/agent/%.o)

# What the compiler is called with, and the objects there are. Both files are written when what is
# in them changes: what depends on them is made again then, and not when this Makefile is touched.
FLAGS   = $(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) agent: $(AGENT_CFLAGS) $(AGENT_LDFLAGS) \
          libraries: $(LIBS) $(HTTP_LIBS)
OBJECTS = $(LIB_OBJ) $(TUI_OBJ) $(HTTP_OBJ) $(AGENT_OBJ)
ifneq ($(MAKECMDGOALS),clean)
ifneq ($(file <$(BUILD)/flags),$(FLAGS))
$(shell mkdir -p $(BUILD))$(file >$(BUILD)/flags,$(FLAGS))
endif
ifneq ($(file <$(BUILD)/objects),$(OBJECTS:$(BUILD)/%=%))
$(file >$(BUILD)/objects,$(OBJECTS:$(BUILD)/%=%))
endif
endif
$(BUILD)/flags $(BUILD)/objects: ;
INPUTS = $(BUILD)/flags $(BUILD)/objects

all: $(BUILD)/jtop-prof $(BUILD)/jtop-prof-http $(BUILD)/libjtop-agent.so

link = $(call say,LD,$@)
link_with = $(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^)

$(BUILD)/jtop-prof: $(TUI_OBJ) $(LIB_OBJ) $(INPUTS)
	$(link)
	$(link_with) $(LIBS)

$(BUILD)/jtop-prof-http: $(filter-out $(BUILD)/tui/cli/http/http.o,$(TUI_OBJ)) $(HTTP_OBJ) $(LIB_OBJ) $(INPUTS)
	$(link)
	$(link_with) $(HTTP_LIBS) $(LIBS)

$(BUILD)/libjtop-agent.so: $(AGENT_OBJ) $(INPUTS)
	$(link)
	$(link_with) $(AGENT_LDFLAGS)

# The frontend without a library of the machine it runs on, but for a few files the same.
STATIC_SRC := attach/find/jvm.c tui/cli/http/http.c tui/cli/command/self.c core/source/source_archive.c
STATIC_OBJ := $(STATIC_SRC:%.c=$(BUILD)/static/%.o)
$(BUILD)/static/jtop-prof: $(STATIC_OBJ) $(filter-out $(STATIC_SRC:%.c=$(BUILD)/%.o),$(TUI_OBJ) $(LIB_OBJ)) $(INPUTS)
	$(link)
	$(link_with) -static $(LIBS)

$(BUILD)/static/libjtop-agent.so: $(BUILD)/libjtop-agent.so
	@mkdir -p $(@D)
	cp $< $@

compile = @mkdir -p $(@D)$(if $(V),,; echo "  CC $<")

$(BUILD)/static/%.o: %.c $(BUILD)/flags
	$(compile)
	$(Q)$(CC) $(CPPFLAGS) -DJTOP_STATIC $(CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/agent/%.o: %.c $(BUILD)/flags
	$(compile)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c $(BUILD)/flags
	$(compile)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# -MMD does not see the files that .incbin compiles in.
include core/export/embed.mk core/http/serve/embed.mk
$(BUILD)/tui/terminal/theme.o: $(wildcard themes/*.theme)

# ---- tests ----

# A test program links the archives of what it tests, by the folder it is in, or, for fuzz targets and
# benchmarks, by its name: agent_* what runs inside the JVM, serve_* and push_* what only
# jtop-prof-http has, all others the core. Of those, tests of tui/ get the frontend too, without main,
# and so does what includes something of it. A fuzz target wants clang: see test/run.
$(BUILD)/core.a:  $(LIB_OBJ)
$(BUILD)/tui.a:   $(filter-out $(BUILD)/tui/cli/main.o,$(TUI_OBJ))
$(BUILD)/http.a:  $(HTTP_OBJ)
$(BUILD)/agent.a: $(AGENT_OBJ)
$(BUILD)/%.a: $(BUILD)/objects
	@rm -f $@
	$(call say,AR,$@)
	$(Q)$(AR) rcsT $@ $(filter %.o,$^)

WITH_TUI := $(basename $(shell grep -lE '"(tui/|test/unit/tui/)' $(TEST_SRC) $(FUZZ_SRC) $(BENCH_SRC)))
OF_AGENT = test/unit/agent/% test/fuzz/agent_% test/bench/agent_%
OF_HTTP  = test/unit/http/% test/fuzz/serve_% test/fuzz/push_% test/bench/serve_% test/bench/push_%
archives = $(addprefix $(BUILD)/,$(addsuffix .a,$(if $(filter $(OF_AGENT),$1),agent,\
               $(if $(filter $(OF_HTTP),$1),http) $(if $(filter $1,$(WITH_TUI)),tui) core)))
libraries = $(if $(filter %/agent.a,$^),-pthread,$(if $(filter %/http.a,$^),$(HTTP_LIBS)) -lzip $(LIBS))
link_test = $(link_with) -Wl,--start-group $(filter %.a,$^) -Wl,--end-group

.SECONDEXPANSION:
$(BUILD)/test/unit/%: $(BUILD)/test/unit/%.o $$(call archives,test/unit/$$*) $(BUILD)/flags
	$(link)
	$(link_test) $(libraries) -lcmocka

$(BUILD)/test/fuzz/%: $(BUILD)/test/fuzz/%.o $$(call archives,test/fuzz/$$*) $(BUILD)/flags
	$(link)
	$(link_test) -fsanitize=fuzzer $(libraries)

$(BUILD)/test/bench/%: $(BUILD)/test/bench/%.o $$(call archives,test/bench/$$*) $(BUILD)/flags
	$(link)
	$(link_test) $(libraries)

# What end-to-end scripts need that the profiler's own command line has not.
$(BUILD)/test/e2e/lib/%: $(BUILD)/test/e2e/lib/%.o $(BUILD)/core.a $(BUILD)/flags
	$(link)
	$(link_test) $(libraries)

# A program that says it is a JVM, for portable.py. Over musl's headers go only those of jni.h.
$(BUILD)/test/musl/host-%: test/musl/host.c $(wildcard core/wire/*.h) $(BUILD)/flags
	$(compile)
	$(Q)$(if $(filter musl,$*),musl-gcc,$(CC)) $(CPPFLAGS) -g -O1 -std=gnu11 $(WARN) -rdynamic -o $@ \
	    $< -pthread -ldl

# The agent with a stopwatch, for walk_bench.py.
PROBE := $(BUILD)/test/bench/libwalk-probe.so
$(PROBE): $(BUILD)/agent/test/bench/walk_probe.o $(AGENT_OBJ) $(INPUTS)
	@mkdir -p $(@D)
	$(link)
	$(link_with) $(AGENT_LDFLAGS)

$(BUILD)/java/done: $(JAVA_SRC)
	@mkdir -p $(@D)
	$(call say,JAVAC,test/java)
	$(Q)javac --release 8 -Xlint:-options -d $(@D) $^ && touch $@

# C code that Java calls and that calls Java: with frame pointers, and with unwind tables only.
$(BUILD)/java/libcallback-fp.so: test/java/native/callback.c $(BUILD)/flags
	$(compile)
	$(Q)$(CC) $(CPPFLAGS) -O2 -fno-omit-frame-pointer -DKIND=Fp -shared -fPIC \
	    -o $@ $<
$(BUILD)/java/libcallback-plain.so: test/java/native/callback.c $(BUILD)/flags
	$(compile)
	$(Q)$(CC) $(CPPFLAGS) -O2 -fomit-frame-pointer -DKIND=Plain -DWITHOUT_FRAME_POINTER -shared -fPIC \
	    -o $@ $<

# The same code as two libraries, one of which is loaded late.
$(BUILD)/java/libmemory-%.so: test/java/native/memory.c $(BUILD)/flags
	$(compile)
	$(Q)$(CC) $(CPPFLAGS) -O2 -DKIND=$(if $(filter early,$*),Early,Late) -shared -fPIC -o $@ $< -pthread
$(BUILD)/java/lib%.so: test/java/native/%.c $(BUILD)/flags
	$(compile)
	$(Q)$(CC) $(CPPFLAGS) -O2 -fno-omit-frame-pointer -shared -fPIC -o $@ $< -pthread

unit-tests: $(TEST_SRC:%.c=$(BUILD)/%)
fuzz-targets: $(FUZZ_SRC:%.c=$(BUILD)/%)
bench-programs: $(BENCH_SRC:%.c=$(BUILD)/%) $(PROBE)
java: $(BUILD)/java/done $(NATIVE_LIBS:%=$(BUILD)/java/lib%.so) $(BUILD)/test/e2e/lib/switcher $(BUILD)/test/e2e/lib/fleeter
objects: $(OBJECTS)
test-objects: $(patsubst %.c,$(BUILD)/%.o,$(TEST_SRC) $(FUZZ_SRC) $(BENCH_SRC) test/e2e/lib/switcher.c test/e2e/lib/fleeter.c)

static: $(BUILD)/static/jtop-prof $(BUILD)/static/libjtop-agent.so

# These first install what is missing (.ci/setup says what and why), then make what they need.
run:
	@.ci/setup run && $(MAKE) all java && BUILD=$(BUILD) test/demo $(PID)
# What a change is judged by, in minutes; ONLY="WORD..." takes programs by name, of both tiers.
test:
	@.ci/setup test && BUILD=$(BUILD) test/run $(ONLY)
# Everything. Ended in the middle and called again, it goes on where it was.
test-all:
	@.ci/setup test && BUILD=$(BUILD) test/run --tier all --resume
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
# Slow checks read what changed in the last three days of history; in lint-all they read everything.
lint:
	@.ci/setup lint && BUILD=$(BUILD) test/lint/run
lint-all:
	@.ci/setup lint && BUILD=$(BUILD) test/lint/run --all
# The table of Performance; PEER=/path/asprof is measured in the same run, PAIRS=3 is a short one,
# JSON=FILE has the same figures. ONLY="WORD..." takes groups of its rows, and benchmarks, by name.
bench:
	@.ci/setup run && $(MAKE) all java && exec env BUILD=$(BUILD) test/bench/run $(if $(PEER),--peer '$(PEER)') \
	    $(if $(PAIRS),--pairs '$(PAIRS)') $(if $(JSON),--json '$(JSON)') $(ONLY)

# The parts of the manual that come from the program's tables and from a header; a unit test and
# test/lint/stream say where they differ.
MAN = man/jtop-prof.1 man/jtop-prof.5 man/jtop-prof.7
man: $(BUILD)/jtop-prof
	@for page in $(MAN); do \
	    $(BUILD)/jtop-prof --manual $${page##*.} >$(BUILD)/tables && \
	    sed -e '/^\.\\" Made from the tables/,/^\.\\" So far from the tables/{/Made from/r $(BUILD)/tables' \
	        -e '/Made from/b' -e '/So far from/b' -e d -e '}' $$page >$(BUILD)/page && \
	    cp $(BUILD)/page $$page || exit 1; \
	done
	@test/lint/stream --write

# The pictures of the screen in README.md: the demo, profiled for a minute in a terminal (tmux).
pictures: all java
	@BUILD=$(BUILD) man/picture

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
	$(MAKE) PROGRAM=$(BUILD)/static/jtop-prof DESTDIR=$(STAGE)/ \
	    PREFIX=$(DIST) install
	strip $(STAGE)/$(DIST)/bin/jtop-prof
	install -m 644 README.md LICENSE $(STAGE)/$(DIST)
	install -d $(STAGE)/$(DIST)/man
	install -m 644 man/methods.svg man/flame.svg $(STAGE)/$(DIST)/man
	tar -C $(STAGE) --sort=name --owner=0 --group=0 --numeric-owner -czf $(BUILD)/$(DIST).tar.gz \
	    $(DIST)
	rm -rf $(STAGE)

deb: STAGE = $(abspath $(BUILD))/deb
deb: all
	rm -rf $(STAGE)
	$(MAKE) DESTDIR=$(STAGE) PREFIX=/usr install
	.packaging/deb $(STAGE) $(VERSION) $(BUILD)
	rm -rf $(STAGE)

clean:
	rm -rf $(BUILD) test/out

.PHONY: all unit-tests fuzz-targets bench-programs java objects test-objects static run test test-all test-jdks \
        soak test-aarch64 test-musl lint lint-all bench man pictures install uninstall dist deb clean
.SECONDARY:
-include $(wildcard $(patsubst %.o,%.d,$(LIB_OBJ) $(TUI_OBJ) $(HTTP_OBJ) $(AGENT_OBJ) $(STATIC_OBJ) \
     $(patsubst %.c,$(BUILD)/%.o,$(TEST_SRC) $(FUZZ_SRC) $(BENCH_SRC) test/e2e/lib/switcher.c test/e2e/lib/fleeter.c)))
