export const language = {
  label: "Language",
  ofBrowser: "Same as the browser",
  help: "Used in every browser where you sign in.",
} as const;
