# The compiler does not tell make about files that come in by .incbin.
$(BUILD)/core/http/serve/page/pages_assets.o: $(wildcard core/http/serve/page/live_*.js core/http/serve/page/live_*.css \
    core/http/serve/page/live_*.html)
