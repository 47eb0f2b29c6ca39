import anthropicSdk from "../../../../docs/clients/anthropic-sdk.md?raw";
import ci from "../../../../docs/clients/ci.md?raw";
import claudeCode from "../../../../docs/clients/claude-code.md?raw";
import codex from "../../../../docs/clients/codex.md?raw";
import openaiSdk from "../../../../docs/clients/openai-sdk.md?raw";

/** Pages of the documents about programs that call, as they were when the console was built. */
export const guideTexts = {
  "anthropic-sdk": anthropicSdk,
  ci,
  "claude-code": claudeCode,
  codex,
  "openai-sdk": openaiSdk,
};
