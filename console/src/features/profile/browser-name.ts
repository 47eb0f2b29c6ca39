import { t } from "../../language/areas/profile.ts";

const browsers = [
  [t("profile.edge"), /Edg\//],
  [t("profile.opera"), /OPR\//],
  [t("profile.firefox"), /(Firefox|FxiOS)\//],
  [t("profile.chrome"), /(Chrome|CriOS|Chromium)\//],
  [t("profile.safari"), /Version\/.*Safari\//],
] as const;

const systems = [
  ["iOS", /iPhone|iPad/],
  [t("profile.android"), /Android/],
  ["macOS", /Macintosh/],
  [t("profile.windows"), /Windows/],
  ["ChromeOS", /CrOS/],
  [t("profile.linux"), /Linux/],
] as const;

/** "Firefox on macOS", as far as a browser's own words tell; they may lie, and are only shown. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return t("profile.unknown");
  const browser = browsers.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const system = systems.find(([, pattern]) => pattern.test(userAgent))?.[0];
  if (browser === undefined) return userAgent.slice(0, 40);
  return system === undefined ? browser : t("profile.on", { browser, system });
}
