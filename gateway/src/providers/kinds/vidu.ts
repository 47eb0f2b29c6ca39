import { classifyByStatus } from "../classify-by-status.ts";
import { defineKind } from "../define-kind.ts";
import { authorizeWith } from "../openai-shaped.ts";
import { viduVideo } from "../video/vidu.ts";

export const vidu = defineKind({
  id: "vidu",
  title: "Vidu",
  baseUrl: "https://api.vidu.com",
  variable: "VIDU",
  baseUrlHelp: "For an account in China: https://api.vidu.cn.",
  apiKeyHelp: "Create one at platform.vidu.com, under API keys.",
  video: viduVideo,
  authorize: authorizeWith("authorization", "Token "),
  classify: (answer) => classifyByStatus(answer),
});
