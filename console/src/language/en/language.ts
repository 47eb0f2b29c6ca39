export const language = {
  label: "Language",
  ofBrowser: "As the browser",
} as const;
