# The compiler does not tell make about files that come in by .incbin.
$(BUILD)/core/export/svg_assets.o: core/export/svg_script.js core/export/svg_style.css
$(BUILD)/core/export/html_assets.o: core/export/html_script.js core/export/html_style.css

# profile.pb-c.h is included as <core/export/profile.pb-c.h>: not our code, so not our warnings.
GENERATED := $(BUILD)/gen/core/export/profile.pb-c
override CPPFLAGS += -isystem $(BUILD)/gen

generated: $(GENERATED).h
$(GENERATED).h: core/export/profile.proto
	@mkdir -p $(@D)
	protoc-c --c_out=$(BUILD)/gen $<
$(GENERATED).c: $(GENERATED).h ;
$(GENERATED).o: $(GENERATED).c Makefile
	$(CC) $(CPPFLAGS) $(CFLAGS) -w -MMD -MP -c -o $@ $<
$(BUILD)/core/export/pprof_export.o: $(GENERATED).h
.PHONY: generated
