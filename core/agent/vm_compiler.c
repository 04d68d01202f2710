#include "core/agent/vm_compiler.h"

void compiler_learn(struct vm *vm) {
    (void)vm;
}

uintptr_t compiler_method(const struct vm *vm) {
    (void)vm;
    return 0;
}
