/** Where the code of a snippet goes; the code itself is the same in every language. */
export const snippets = {
  shell: "In a shell",
  pythonSdk: "With the OpenAI SDK: pip install openai",
  javascriptSdk: "With the OpenAI SDK: npm install openai",
  environment: "Environment",
  environmentWhere: "Read by the SDKs and most programs",
} as const;
