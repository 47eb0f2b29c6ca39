/** Titles and hints of snippets; the code itself is the same in every language. */
export const snippets = {
  shell: "In a shell",
  pythonSdk: "With the OpenAI SDK: pip install openai",
  pythonAnthropic: "With the Anthropic SDK: pip install anthropic",
  javascriptSdk: "With the OpenAI SDK: npm install openai",
  javascriptAnthropic: "With the Anthropic SDK: npm install @anthropic-ai/sdk",
  environment: "Environment",
  environmentWhere: "Read by the SDKs and most programs",
} as const;
