# The compiler does not tell make about files that come in by .incbin.
$(BUILD)/core/export/svg_assets.o: core/export/svg_script.js core/export/svg_style.css
