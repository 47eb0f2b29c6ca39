import anthropicSdk from "../../../../docs/clients/anthropic-sdk.md?raw";
import ci from "../../../../docs/clients/ci.md?raw";
import claudeCode from "../../../../docs/clients/claude-code.md?raw";
import codex from "../../../../docs/clients/codex.md?raw";
import geminiCli from "../../../../docs/clients/gemini-cli.md?raw";
import openWebui from "../../../../docs/clients/open-webui.md?raw";
import openaiSdk from "../../../../docs/clients/openai-sdk.md?raw";
import opencode from "../../../../docs/clients/opencode.md?raw";

/** Documentation pages about client programs, included at build time. */
export const guideTexts = {
  "anthropic-sdk": anthropicSdk,
  ci,
  "claude-code": claudeCode,
  codex,
  "gemini-cli": geminiCli,
  "open-webui": openWebui,
  "openai-sdk": openaiSdk,
  opencode,
};
