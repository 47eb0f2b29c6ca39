export const language = {
  label: "Language",
  ofBrowser: "Same as the browser",
  help: "Of the console, in every browser where you sign in.",
} as const;
