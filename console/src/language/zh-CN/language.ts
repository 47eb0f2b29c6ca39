import type { language as english } from "../en/language.ts";
import type { Translation } from "../texts.ts";

export const language: Translation<typeof english> = {
  label: "语言",
  ofBrowser: "跟随浏览器",
  help: "控制台使用的语言，在你登录的每个浏览器中生效。",
};
