import { browserSupportsWebAuthn, startAuthentication, WebAuthnError } from "@simplewebauthn/browser";
import { sendJson } from "../client/call.ts";
import { Problem } from "../client/problem.ts";
import { t } from "../language/areas/session.ts";

/** The public sign-in calls. A failed sign-in throws a Problem. */
export function post(path: string, body: object): Promise<unknown> {
  return sendJson(path, { method: "POST", body: JSON.stringify(body), signal: null });
}

/** `code`: the password is correct, and an authenticator code is required too. */
export type SignInStep = "done" | "code";

export async function signInWithPassword(email: string, password: string): Promise<SignInStep> {
  const answer = (await post("/api/auth/sign-in/email", { email, password })) as { two_factor: boolean };
  return answer.two_factor ? "code" : "done";
}

export async function giveCode(code: string): Promise<void> {
  await post("/api/auth/two-factor/verify-totp", { code });
}

export async function giveBackupCode(code: string): Promise<void> {
  await post("/api/auth/two-factor/verify-backup-code", { code });
}

/** WebAuthn identifies sites by name, so passkeys do not work with an IP address. */
export function passkeysWork(): boolean {
  return browserSupportsWebAuthn() && !isAddress(location.hostname);
}

function isAddress(hostname: string): boolean {
  return /^[\d.]+$|:/.test(hostname);
}

type PasskeyQuestion = Parameters<typeof startAuthentication>[0]["optionsJSON"];

export async function signInWithPasskey(): Promise<void> {
  const path = "/api/auth/passkey/generate-authenticate-options";
  const optionsJSON = (await sendJson(path, { method: "GET", body: null, signal: null })) as PasskeyQuestion;
  const response = await startAuthentication({ optionsJSON }).catch((thrown: unknown) => {
    throw passkeyProblem(thrown);
  });
  await post("/api/auth/passkey/verify-authentication", { response });
}

/** Opens the issuer's sign-in page, which returns to `page`. */
export async function signInElsewhere(provider: string, page: string): Promise<void> {
  goElsewhere(await addressElsewhere(provider, page));
}

/**
 * Signs in in a new tab, so that this page keeps its input. Call it from a click handler, since browsers otherwise block the new tab;
 * then this page navigates instead.
 */
export async function signInInTab(provider: string, page: string): Promise<void> {
  const tab = window.open("about:blank", "_blank");
  try {
    const address = checkedAddress(await addressElsewhere(provider, page));
    if (tab === null) return location.assign(address);
    tab.opener = null;
    tab.location.href = address;
  } catch (thrown) {
    tab?.close();
    throw thrown;
  }
}

async function addressElsewhere(provider: string, page: string): Promise<string> {
  const { url } = (await post("/api/auth/sign-in/social", { provider, page })) as { url: string };
  return url;
}

/** Navigates to the page of an issuer. */
export function goElsewhere(url: string): void {
  location.assign(checkedAddress(url));
}

function checkedAddress(url: string): string {
  const target = new URL(url);
  if (target.protocol !== "https:" && target.protocol !== "http:") {
    throw new Problem("unexpected", t("session.problem.noAddress"));
  }
  return target.href;
}

/** Translates the browser's passkey errors into helpful messages. */
export function passkeyProblem(thrown: unknown): unknown {
  if (thrown instanceof WebAuthnError && thrown.code === "ERROR_AUTHENTICATOR_PREVIOUSLY_REGISTERED") {
    return new Problem("passkey_exists", t("session.problem.passkeyExists"));
  }
  if (thrown instanceof Error && (thrown.name === "NotAllowedError" || thrown.name === "AbortError")) {
    return new Problem("passkey_dismissed", t("session.problem.passkeyDismissed"));
  }
  if (thrown instanceof Error && thrown.name === "SecurityError") {
    return new Problem("passkey_address", t("session.problem.passkeyAddress"));
  }
  if (thrown instanceof Error && thrown.name.endsWith("Error") && !(thrown instanceof Problem)) {
    return new Problem("passkey_failed", t("session.problem.passkeyFailed", { message: thrown.message }));
  }
  return thrown;
}
