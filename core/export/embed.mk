# The compiler does not tell make about files that come in by .incbin.
$(BUILD)/core/export/svg_assets.o: core/export/svg_script.js core/export/svg_style.css
$(BUILD)/core/export/html_assets.o: core/export/html_data.js core/export/html_script.js \
    core/export/html_style.css core/export/tree_script.js core/export/tree_style.css

# NAME.pb-c.h is included as <core/export/NAME.pb-c.h>: not our code, so not our warnings.
PROTO     := core/export/profile core/export/otlp
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
