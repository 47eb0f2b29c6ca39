import { expect } from "bun:test";
import type { Answered, Browser } from "./browser.ts";
import type { Issuer } from "./issuer.ts";

/** Back from the issuer, as its page sends a browser. */
export function comeBack(browser: Browser, url: string): Promise<Answered> {
  const { pathname, search } = new URL(url);
  return browser.get(`${pathname}${search}`, { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" });
}

/** The trip that somebody signed in makes from their profile. */
export async function connect(browser: Browser, issuer: Issuer, provider = "corp"): Promise<Answered> {
  const started = await browser.post("/api/auth/oidc/connect", { provider });
  expect(started.status).toBe(200);
  return await comeBack(browser, issuer.consent(started.json.url));
}
