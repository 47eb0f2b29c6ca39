import type { snippets as english } from "../en/snippets.ts";
import type { Translation } from "../texts.ts";

export const snippets: Translation<typeof english> = {
  shell: "在终端中执行",
  pythonSdk: "使用 OpenAI SDK：pip install openai",
  pythonAnthropic: "使用 Anthropic SDK：pip install anthropic",
  javascriptSdk: "使用 OpenAI SDK：npm install openai",
  javascriptAnthropic: "使用 Anthropic SDK：npm install @anthropic-ai/sdk",
  environment: "环境变量",
  environmentWhere: "各 SDK 和多数程序会自动读取",
};
