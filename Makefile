# jtop-prof: `make run` looks at a JVM, `make test` checks everything. The rest is below.
PREFIX  ?= /usr/local
DESTDIR ?=
CC      ?= gcc
BUILD   ?= build
CFLAGS  ?= -O2 -g
VERSION := 0.1.0

WARN     = -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wstrict-prototypes -Wpedantic
override CPPFLAGS += -I. -D_GNU_SOURCE -DJTOP_VERSION='"$(VERSION)"'
override CFLAGS   += -std=gnu11 $(WARN) $(WERROR)
LIBS     = -lncursesw -ltinfo -lelf -liberty -lz -pthread

# The agent lives in somebody else's process: libc only, nothing exported but its entry points, no
# lazy binding (a resolver must not run in a signal handler), no initial-exec TLS, no fortify.
AGENT_CFLAGS  = -fPIC -fvisibility=hidden -fno-omit-frame-pointer -fno-stack-protector \
                -U_FORTIFY_SOURCE -ftls-model=global-dynamic
AGENT_LDFLAGS = -shared -Wl,-z,now -Wl,-z,relro -Wl,--no-undefined -Wl,-soname,libjtop-agent.so \
                -pthread

LIB_SRC   := $(wildcard core/base/*.c core/wire/*.c core/profile/*.c core/session/*.c \
               core/export/*.c attach/*.c symbols/*.c)
TUI_SRC   := $(wildcard tui/*.c)
AGENT_SRC := $(wildcard core/agent/*.c core/wire/ring_writer.c)
TEST_SRC  := $(wildcard test/unit/*_test.c)
LIB_OBJ   := $(LIB_SRC:%.c=$(BUILD)/%.o)
TUI_OBJ   := $(TUI_SRC:%.c=$(BUILD)/%.o)
AGENT_OBJ := $(AGENT_SRC:%.c=$(BUILD)/agent/%.o)
TESTS     := $(TEST_SRC:%.c=$(BUILD)/%)

all: $(BUILD)/jtop-prof $(BUILD)/libjtop-agent.so

$(BUILD)/jtop-prof: $(TUI_OBJ) $(LIB_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/libjtop-agent.so: $(AGENT_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) $(AGENT_LDFLAGS) -o $@ $^

$(BUILD)/agent/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(AGENT_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<

# A unit test is one cmocka program; it may use everything but main.
$(BUILD)/test/unit/%: $(BUILD)/test/unit/%.o $(LIB_OBJ) $(filter-out $(BUILD)/tui/main.o,$(TUI_OBJ))
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS) -lcmocka

unit-tests: $(TESTS)

clean:
	rm -rf $(BUILD) test/out

.PHONY: all unit-tests clean
.SECONDARY:
-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
