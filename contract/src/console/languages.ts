/** The languages of the console, as BCP 47 names, each called what its speakers call it. */
export const consoleLanguages = [
  { id: "en", name: "English" },
  { id: "zh-CN", name: "简体中文" },
] as const;

export type ConsoleLanguage = (typeof consoleLanguages)[number]["id"];

export function isConsoleLanguage(value: unknown): value is ConsoleLanguage {
  return consoleLanguages.some(({ id }) => id === value);
}
