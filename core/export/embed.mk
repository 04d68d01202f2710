# The compiler does not tell make about files that come in by .incbin.
$(BUILD)/core/export/web/svg_assets.o: core/export/web/svg_script.js core/export/web/svg_style.css
$(BUILD)/core/export/web/html_assets.o: core/export/web/html_data.js core/export/web/html_script.js \
    core/export/web/html_style.css core/export/web/tree_script.js core/export/web/tree_style.css

# NAME.pb-c.h is included as <core/export/ROOM/NAME.pb-c.h>: not our code, so not our warnings.
PROTO     := core/export/pprof/profile core/export/otlp/otlp
GENERATED := $(PROTO:%=$(BUILD)/gen/%.pb-c)
override CPPFLAGS += -isystem $(BUILD)/gen

generated: $(GENERATED:%=%.h)
$(GENERATED:%=%.h): $(BUILD)/gen/%.pb-c.h: %.proto
	@mkdir -p $(@D)
	$(call say,PROTOC,$<)
	$(Q)protoc-c --c_out=$(BUILD)/gen $<
$(GENERATED:%=%.c): %.c: %.h ;
$(GENERATED:%=%.o): %.o: %.c $(BUILD)/flags
	$(compile)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -w -MMD -MP -c -o $@ $<
# Before anything that might include them: on a first build nobody knows yet who does.
$(LIB_OBJ) $(TUI_OBJ) $(TEST_SRC:%.c=$(BUILD)/%.o): | $(GENERATED:%=%.h)
.PHONY: generated
