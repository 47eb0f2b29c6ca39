import { isLoopbackHost } from "#core/index.ts";
import { askStraight } from "../ask-straight.ts";
import { CommandFailed, CommandWrong } from "../terminal.ts";
import { alone, readLogin, type StoredLogin, writeLogin } from "./login-file.ts";

const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";

export interface SignInOptions {
  readonly base: string;
  readonly path: string;
  /** To whoever is in front of the screen. */
  readonly tell: (line: string) => void;
  readonly pause: (ms: number) => Promise<void>;
  readonly believed: Believed;
}

/** The device flow: shows a code, waits until somebody has confirmed it, stores what comes. Throws CommandFailed. */
export async function signIn({ base, path, tell, pause, believed }: SignInOptions): Promise<StoredLogin> {
  const gateway = await readGateway(base, believed);
  const start = await postForm(gateway.deviceEndpoint, { surface: "sluice_cli" }, believed);
  const { device_code: deviceCode, user_code: userCode, verification_uri_complete: page } = start.body;
  if (start.status !== 200 || typeof deviceCode !== "string") throw refused("no sign-in could be begun", start);
  tell(`Open ${page}`);
  tell(`and confirm the code ${userCode}. Waiting …`);
  let intervalMs = secondsOf(start.body["interval"], 5) * 1_000;
  const roundsMax = Math.ceil((secondsOf(start.body["expires_in"], 600) * 1_000) / intervalMs);
  for (let round = 0; round < roundsMax; round++) {
    await pause(intervalMs);
    const asked = { grant_type: deviceGrant, device_code: deviceCode };
    const answer = await postForm(gateway.tokenEndpoint, asked, believed);
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
  throw new CommandFailed("nobody confirmed the code in time; run the command again");
}

/** RFC 8628, 3.5. */
const slowDownMs = 5_000;

const endings: Readonly<Record<string, string>> = {
  access_denied: "the sign-in was denied",
  expired_token: "the code is over; run the command again",
};

/**
 * An access token that holds for some minutes yet and that the gateway takes, refreshed where it is not so: agents that are refused ask for
 * a token again, and with the same one they would go on for minutes instead of saying what is wrong. Of several processes at once one refreshes, and the others
 * find what it has stored. A gateway that is away matters only once the token is over.
 */
export async function freshToken(
  path: string,
  { pause, believed }: Pick<SignInOptions, "pause" | "believed">,
): Promise<string> {
  const known = readLogin(path);
  if (leftMs(known) > refreshBelowMs && (await isAccepted(known.url, known.accessToken, believed)))
    return known.accessToken;
  return await alone(path, pause, async () => {
    const login = readLogin(path);
    if (login.refreshToken !== known.refreshToken && leftMs(login) > refreshBelowMs) return login.accessToken;
    let answer: OAuthAnswer;
    try {
      const asked = { grant_type: "refresh_token", refresh_token: login.refreshToken };
      answer = await postForm(login.tokenEndpoint, asked, believed);
    } catch (thrown) {
      if (leftMs(login) > 0) return login.accessToken;
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
    if (leftMs(login) > 0) return login.accessToken;
    throw refused("the token could not be refreshed", answer);
  });
}

/** As Claude Code does: a call that begins now is over before its token is. */
const refreshBelowMs = 300_000;

function leftMs({ expiresAt }: StoredLogin): number {
  return expiresAt - Date.now();
}

/** Ends the sign-in at the gateway, as far as that answers. */
export async function endSignIn(
  { revocationEndpoint, accessToken, refreshToken }: StoredLogin,
  believed: Believed,
): Promise<boolean> {
  if (revocationEndpoint === null) return false;
  const first = await postForm(revocationEndpoint, { token: accessToken }, believed);
  const refresh = { token: refreshToken, token_type_hint: "refresh_token" };
  const second = await postForm(revocationEndpoint, refresh, believed);
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
  const said = body["error_description"] ?? body["error"];
  return new CommandFailed(`${what} (${typeof said === "string" ? said : `status ${status}`})`);
}

interface OAuthAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** https, or http on this machine: a token is never sent in the clear. Without a slash at its end. */
export function checkedUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (
    url === null ||
    (url.protocol !== "https:" && url.protocol !== "http:") ||
    url.username !== "" ||
    url.search !== ""
  ) {
    throw new CommandWrong(`${text} is not the address of a gateway, such as https://gateway.example.com`);
  }
  if (url.protocol === "http:" && !isLoopbackHost(url.hostname)) {
    throw new CommandWrong("tokens are sent to https addresses only, or to http://localhost");
  }
  return (url.origin + url.pathname).replace(/\/+$/, "");
}

/** Throws CommandFailed when there is no gateway that signs agents in, or it would send tokens elsewhere. */
async function readGateway(base: string, believed: Believed) {
  const { status, body } = await ask(`${base}/.well-known/oauth-authorization-server`, { believed });
  const own = (value: unknown): string | null =>
    typeof value === "string" && URL.canParse(value) && new URL(value).origin === new URL(base).origin ? value : null;
  const [deviceEndpoint, tokenEndpoint] = [own(body["device_authorization_endpoint"]), own(body["token_endpoint"])];
  if (status !== 200 || deviceEndpoint === null || tokenEndpoint === null) {
    throw new CommandFailed(`${base} does not sign programs in: is it the address of a Sluice gateway?`);
  }
  return { url: base, deviceEndpoint, tokenEndpoint, revocationEndpoint: own(body["revocation_endpoint"]) };
}

/** Throws CommandFailed when the gateway does not answer in time. */
async function postForm(
  url: string,
  fields: Readonly<Record<string, string>>,
  believed: Believed,
): Promise<OAuthAnswer> {
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return await ask(url, { method: "POST", headers, body: new URLSearchParams(fields).toString(), believed });
}

/** False: the gateway says that this token opens nothing. One that does not answer in time has not said so. */
async function isAccepted(base: string, accessToken: string, believed: Believed): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${accessToken}` };
    const { status } = await send(`${base}/user/bootstrap`, { headers, answerMs: acceptedMs, believed });
    return status !== 401;
  } catch {
    return true;
  }
}

async function ask(url: string, asked: Omit<Asked, "answerMs">): Promise<OAuthAnswer> {
  try {
    const { status, text } = await send(url, { ...asked, answerMs });
    return { status, body: objectOf(text) };
  } catch (thrown) {
    throw new CommandFailed(
      `${new URL(url).origin} does not answer: ${thrown instanceof Error ? thrown.message : thrown}`,
    );
  }
}

/** Certificate authorities (PEM); undefined: the runtime's own. */
export type Believed = readonly string[] | undefined;

interface Asked {
  readonly believed: Believed;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly answerMs: number;
}

/** What is no https is on this machine, which no proxy of the environment reaches. */
async function send(url: string, asked: Asked): Promise<{ readonly status: number; readonly text: string }> {
  const { answerMs: ms, believed, ...init } = asked;
  const headers = { "user-agent": "sluice-cli", ...init.headers };
  if (url.startsWith("http:")) return await askStraight(url, { ...asked, headers, charactersMax: answerCharactersMax });
  const tls = believed === undefined ? {} : { tls: { ca: [...believed] } };
  const response = await fetch(url, { ...init, headers, redirect: "manual", signal: AbortSignal.timeout(ms), ...tls });
  return { status: response.status, text: (await response.text()).slice(0, answerCharactersMax) };
}

/** Codex waits five seconds for a token command. */
const answerMs = 4_000;
/** Of these, what is spent on a token that most probably is good. */
const acceptedMs = 1_000;
const answerCharactersMax = 65_536;

function objectOf(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
