import { type ConsoleCall, consoleClient } from "@sluice/contract";
import type { BrowserContext, Page } from "playwright-core";
import { routeLines } from "../src/api/route-lines.ts";
import type { OpenedBrowser } from "./opened-browser.ts";

export const password = "correct horse battery";

/** An error of the admin API. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;
  constructor(path: string, status: number, code: string, message: string) {
    super(`${path} returned ${status} ${code}: ${message}`);
    this.status = status;
    this.code = code;
  }
}

/** A signed-in user: calls the admin API like the console, and opens pages with the same session. */
export interface SignedInUser {
  readonly email: string;
  readonly call: ConsoleCall;
  send(path: string, init: RequestInit): Promise<Response>;
  page(browser: OpenedBrowser, options?: Parameters<OpenedBrowser["page"]>[0]): Promise<Page>;
}

export async function signInAs(url: string, email: string, userPassword = password): Promise<SignedInUser> {
  const answer = await fetch(`${url}/api/auth/sign-in/email`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: url },
    body: JSON.stringify({ email, password: userPassword }),
  });
  if (!answer.ok) throw new Error(`${email} could not sign in: ${answer.status} ${await answer.text()}`);
  const pairs = answer.headers.getSetCookie().map((line) => line.split(";", 1)[0] ?? "");
  const cookie = pairs.join("; ");
  const send = (path: string, init: RequestInit) =>
    fetch(`${url}${path}`, { ...init, headers: { origin: url, cookie, ...(init.headers as Record<string, string>) } });
  return {
    email,
    send,
    call: consoleClient(async (path, { method, body, signal }) => {
      const headers: Record<string, string> = body === null ? {} : { "content-type": "application/json" };
      const response = await send(path, { method, body, signal, headers });
      const text = await response.text();
      if (response.ok) return text === "" ? null : JSON.parse(text);
      const { error } = JSON.parse(text) as { error: { code: string; message: string } };
      throw new Refused(`${method} ${path}`, response.status, error.code, error.message);
    }, routeLines),
    page: async (browser, options) => {
      const page = await browser.page(options);
      await page.context().addCookies(cookies(url, pairs));
      return page;
    },
  };
}

function cookies(url: string, pairs: readonly string[]): Parameters<BrowserContext["addCookies"]>[0] {
  return pairs.map((pair) => {
    const place = pair.indexOf("=");
    return { url, name: pair.slice(0, place), value: pair.slice(place + 1), httpOnly: true };
  });
}
