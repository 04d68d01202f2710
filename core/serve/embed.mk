# The compiler does not tell make about files that come in by .incbin.
$(BUILD)/core/serve/pages_assets.o: $(wildcard core/serve/live_*.js core/serve/live_*.css \
    core/serve/live_*.html)
