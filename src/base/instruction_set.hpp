#pragma once

namespace grove {

/// Instruction-set extensions that this build's code may use beyond the architecture's baseline,
/// space-separated; empty without GROVE_NATIVE. A program that links this checks them before anything else
/// runs and, where the processor lacks one, ends with status 2 and a message instead of an illegal
/// instruction.
const char* compiled_instruction_set();

}  // namespace grove
