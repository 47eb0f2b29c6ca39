import type { Translation } from "../catalogue.ts";
import type { snippets as english } from "../en/snippets.ts";

export const snippets: Translation<typeof english> = {
  shell: "在终端中执行",
  pythonSdk: "使用 OpenAI SDK：pip install openai",
  javascriptSdk: "使用 OpenAI SDK：npm install openai",
  environment: "环境变量",
  environmentWhere: "各 SDK 和多数程序会自动读取",
};
