import { t } from "../../language/areas/profile.ts";

const browsers = [
  ["Edge", /Edg\//],
  ["Opera", /OPR\//],
  ["Firefox", /(Firefox|FxiOS)\//],
  ["Chrome", /(Chrome|CriOS|Chromium)\//],
  ["Safari", /Version\/.*Safari\//],
] as const;

const systems = [
  ["iOS", /iPhone|iPad/],
  ["Android", /Android/],
  ["macOS", /Macintosh/],
  ["Windows", /Windows/],
  ["ChromeOS", /CrOS/],
  ["Linux", /Linux/],
] as const;

/** "Firefox on macOS", from the user agent, which may be wrong and is only displayed. */
export function browserName(userAgent: string | null): string {
  if (userAgent === null || userAgent === "") return t("profile.browser.unknown");
  const browser = browsers.find(([, pattern]) => pattern.test(userAgent))?.[0];
  const system = systems.find(([, pattern]) => pattern.test(userAgent))?.[0];
  if (browser === undefined) return userAgent.slice(0, 40);
  return system === undefined ? browser : t("profile.browser.on", { browser, system });
}
