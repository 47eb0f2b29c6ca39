import { expect } from "bun:test";
import type { Browser, BrowserResponse } from "./browser.ts";
import type { Issuer } from "./issuer.ts";

/** Sends the browser back from the issuer, as the issuer's page does. */
export function returnFromIssuer(browser: Browser, url: string): Promise<BrowserResponse> {
  const { pathname, search } = new URL(url);
  return browser.get(`${pathname}${search}`, { "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" });
}

/** Connects an account from the profile of a signed-in user. */
export async function connect(browser: Browser, issuer: Issuer, provider = "corp"): Promise<BrowserResponse> {
  const started = await browser.post("/api/auth/oidc/connect", { provider });
  expect(started.status).toBe(200);
  return await returnFromIssuer(browser, issuer.consent(started.json.url));
}
