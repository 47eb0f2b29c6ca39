import { isLoopbackHost } from "#core/index.ts";
import { requestLocal } from "../local-request.ts";
import { CommandFailed, UsageError } from "../terminal.ts";
import { readLogin, type StoredLogin, withLock, writeLogin } from "./login-file.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

export interface SignInOptions {
  readonly base: string;
  readonly path: string;
  /** Prints a line for the user. */
  readonly print: (line: string) => void;
  readonly pause: (ms: number) => Promise<void>;
  readonly authorities: Authorities;
}

/** Device flow: shows a code, waits for confirmation, stores the tokens. Throws CommandFailed. */
export async function signIn({ base, path, print, pause, authorities }: SignInOptions): Promise<StoredLogin> {
  const gateway = await readGateway(base, authorities);
  const start = await postForm(gateway.deviceEndpoint, { surface: "sluice_cli" }, authorities);
  const { device_code: deviceCode, user_code: userCode, verification_uri_complete: page } = start.body;
  if (start.status !== 200 || typeof deviceCode !== "string") throw refused("failed to start the sign-in", start);
  print(`Open ${page}`);
  print(`and confirm the code ${userCode}. Waiting …`);
  let intervalMs = secondsOf(start.body["interval"], 5) * 1_000;
  const roundsMax = Math.ceil((secondsOf(start.body["expires_in"], 600) * 1_000) / intervalMs);
  for (let round = 0; round < roundsMax; round++) {
    await pause(intervalMs);
    const asked = { grant_type: deviceGrant, device_code: deviceCode };
    const answer = await postForm(gateway.tokenEndpoint, asked, authorities);
    if (answer.status === 200) {
      const login = loginOf(gateway, answer);
      writeLogin(path, login);
      return login;
    }
    const { error } = answer.body;
    if (error === "slow_down") intervalMs += slowDownMs;
    else if (error !== "authorization_pending")
      throw refused(endings[String(error)] ?? "the sign-in was refused", answer);
  }
  throw new CommandFailed("the code was not confirmed in time; run the command again");
}

/** RFC 8628, 3.5. */
const slowDownMs = 5_000;

const endings: Readonly<Record<string, string>> = {
  access_denied: "the sign-in was denied",
  expired_token: "the code has expired; run the command again",
};

/**
 * Returns an access token that is valid for some minutes and accepted by the gateway, refreshing it if needed. A rejected token must
 * not be returned again, or agents would retry for minutes without showing an error. Of several processes one refreshes, and the others
 * read the result. If the gateway is down a valid token is returned.
 */
export async function freshToken(
  path: string,
  { pause, authorities }: Pick<SignInOptions, "pause" | "authorities">,
): Promise<string> {
  const known = readLogin(path);
  if (remainingMs(known) > refreshBelowMs && (await isAccepted(known.url, known.accessToken, authorities)))
    return known.accessToken;
  return await withLock(path, pause, async () => {
    const login = readLogin(path);
    if (login.refreshToken !== known.refreshToken && remainingMs(login) > refreshBelowMs) return login.accessToken;
    let answer: OAuthAnswer;
    try {
      const asked = { grant_type: "refresh_token", refresh_token: login.refreshToken };
      answer = await postForm(login.tokenEndpoint, asked, authorities);
    } catch (thrown) {
      if (remainingMs(login) > 0) return login.accessToken;
      throw thrown;
    }
    if (answer.status === 200) {
      const refreshed = loginOf(login, answer);
      writeLogin(path, refreshed);
      return refreshed.accessToken;
    }
    if (answer.body["error"] === "invalid_grant") {
      throw new CommandFailed(`the sign-in at ${login.url} has ended; run \`sluice login ${login.url}\``);
    }
    if (remainingMs(login) > 0) return login.accessToken;
    throw refused("failed to refresh the token", answer);
  });
}

/** As in Claude Code: a call that starts now ends before the token expires. */
const refreshBelowMs = 300_000;

function remainingMs({ expiresAt }: StoredLogin): number {
  return expiresAt - Date.now();
}

/** Revokes the tokens. Returns false if the gateway does not confirm it. */
export async function endSignIn(
  { revocationEndpoint, accessToken, refreshToken }: StoredLogin,
  authorities: Authorities,
): Promise<boolean> {
  if (revocationEndpoint === null) return false;
  const first = await postForm(revocationEndpoint, { token: accessToken }, authorities);
  const refresh = { token: refreshToken, token_type_hint: "refresh_token" };
  const second = await postForm(revocationEndpoint, refresh, authorities);
  return first.status === 200 && second.status === 200;
}

type Place = Pick<StoredLogin, "url" | "tokenEndpoint" | "revocationEndpoint">;

function loginOf({ url, tokenEndpoint, revocationEndpoint }: Place, answer: OAuthAnswer): StoredLogin {
  const { access_token: accessToken, refresh_token: refreshToken, expires_in: expiresIn } = answer.body;
  if (typeof accessToken !== "string" || typeof refreshToken !== "string") {
    throw new CommandFailed(`${url} answered without tokens`);
  }
  const expiresAt = Date.now() + secondsOf(expiresIn, 0) * 1_000;
  return { url, tokenEndpoint, revocationEndpoint, accessToken, refreshToken, expiresAt };
}

function secondsOf(value: unknown, otherwise: number): number {
  return typeof value === "number" && value > 0 && value <= 86_400 ? value : otherwise;
}

function refused(what: string, { status, body }: OAuthAnswer): CommandFailed {
  const description = body["error_description"] ?? body["error"];
  return new CommandFailed(`${what} (${typeof description === "string" ? description : `status ${status}`})`);
}

interface OAuthAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** https, or http on this machine, because tokens must be encrypted. Removes a trailing slash. */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    (url.protocol !== "https:" && url.protocol !== "http:") ||
    url.username !== "" ||
    url.search !== ""
  ) {
    throw new UsageError(`${text} is not a valid address of a gateway, such as https://gateway.example.com`);
  }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    throw new UsageError("the address must use https, or be http://localhost");
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

/** Throws CommandFailed if there is no gateway with agent sign-in, or it would send tokens elsewhere. */
async function readGateway(base: string, authorities: Authorities) {
  const { status, body } = await ask(`${base}/.well-known/oauth-authorization-server`, { authorities });
  const own = (value: unknown): string | null =>
    typeof value === "string" && URL.canParse(value) && new URL(value).origin === new URL(base).origin ? value : null;
  const [deviceEndpoint, tokenEndpoint] = [own(body["device_authorization_endpoint"]), own(body["token_endpoint"])];
  if (status !== 200 || deviceEndpoint === null || tokenEndpoint === null) {
    throw new CommandFailed(`${base} does not support sign-in of programs: is it the address of a Sluice gateway?`);
  }
  return { url: base, deviceEndpoint, tokenEndpoint, revocationEndpoint: own(body["revocation_endpoint"]) };
}

/** Throws CommandFailed on timeout. */
async function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  authorities: Authorities,
): Promise<OAuthAnswer> {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return await ask(url, { method: "POST", headers, body: new URLSearchParams(fields).toString(), authorities });
}

/** False if the gateway rejects the token. On timeout it counts as accepted. */
async function isAccepted(base: string, accessToken: string, authorities: Authorities): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${accessToken}` };
    const { status } = await send(`${base}/user/bootstrap`, { headers, answerMs: acceptanceCheckMs, authorities });
    return status !== 401;
  } catch {
    return true;
  }
}

async function ask(url: string, asked: Omit<RequestOptions, "answerMs">): Promise<OAuthAnswer> {
  try {
    const { status, text } = await send(url, { ...asked, answerMs });
    return { status, body: objectOf(text) };
  } catch (thrown) {
    throw new CommandFailed(
      `${new URL(url).origin} does not answer: ${thrown instanceof Error ? thrown.message : thrown}`,
    );
  }
}

/** Certificate authorities (PEM); undefined for the runtime's own. */
export type Authorities = readonly string[] | undefined;

interface RequestOptions {
  readonly authorities: Authorities;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly answerMs: number;
}

/** http is on this machine, which no proxy can reach. */
async function send(url: string, asked: RequestOptions): Promise<{ readonly status: number; readonly text: string }> {
  const { answerMs: ms, authorities, ...init } = asked;
  const headers = { "user-agent": "sluice-cli", ...init.headers };
  if (url.startsWith("http:"))
    return await requestLocal(url, { ...asked, headers, charactersMax: answerCharactersMax });
  const tls = authorities === undefined ? {} : { tls: { ca: [...authorities] } };
  const response = await fetch(url, { ...init, headers, redirect: "manual", signal: AbortSignal.timeout(ms), ...tls });
  return { status: response.status, text: (await response.text()).slice(0, answerCharactersMax) };
}

/** Codex waits five seconds for a token command. */
const answerMs = 4_000;
/** The part of it for checking a token. */
const acceptanceCheckMs = 1_000;
const answerCharactersMax = 65_536;

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
