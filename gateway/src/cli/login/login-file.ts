import { randomBytes } from "node:crypto";
import {
  chmodSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import type { Variables } from "#config/index.ts";
import { CommandFailed, UsageError } from "../terminal.ts";

/** `expiresAt`: of the access token, in Unix milliseconds. */
export interface StoredLogin {
  readonly url: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | null;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresAt: number;
}

/** `SLUICE_LOGIN_FILE`, or a file in the user's config folder. */
export function loginPath(variables: Variables): string {
  const named = variables["SLUICE_LOGIN_FILE"];
  if (named !== undefined && named !== "") return named;
  const folder = variables["XDG_CONFIG_HOME"] || join(variables["HOME"] || homedir(), ".config");
  return join(folder, "sluice", "login.json");
}

/** Throws CommandFailed if there is no login. */
export function readLogin(path: string): StoredLogin {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (thrown) {
    const { code } = thrown as NodeJS.ErrnoException;
    if (code !== "ENOENT") throw new CommandFailed(`${path} cannot be read: ${code}`);
    throw new CommandFailed("not signed in; run `sluice login <address of the gateway>`");
  }
  try {
    const login = JSON.parse(text) as StoredLogin;
    if (
      [login.url, login.tokenEndpoint, login.accessToken, login.refreshToken].every((each) => typeof each === "string")
    ) {
      return login;
    }
  } catch {
    // Reported below.
  }
  throw new CommandFailed(`${path} is invalid; run \`sluice login\` again`);
}

/** Readable by the user only. */
export function writeLogin(path: string, login: StoredLogin): void {
  writeWhole(path, `${JSON.stringify(login, null, 2)}\n`);
}

/** Writes atomically. `mode`: of the new file. */
export function writeWhole(path: string, text: string, mode = 0o600): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const made = `${path}.${randomBytes(6).toString("hex")}`;
  try {
    writeFileSync(made, text, { mode: 0o600, flag: "wx" });
    chmodSync(made, mode);
    renameSync(made, path);
  } finally {
    rmSync(made, { force: true });
  }
}

export function removeLogin(path: string): void {
  rmSync(path, { force: true });
}

/**
 * Runs `work` in one process at a time, because a refresh token works once. A lock older than a refresh was left by a process that
 * died.
 */
export async function withLock<Result>(
  path: string,
  pause: (ms: number) => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result> {
  const lock = `${path}.lock`;
  for (let round = 0; !taken(lock); round++) {
    if (round >= lockRoundsMax)
      throw new CommandFailed(`timed out waiting for ${lock}; delete it if no other process uses it`);
    if (isStale(lock)) rmSync(lock, { force: true });
    await pause(lockPauseMs);
  }
  try {
    return await work();
  } finally {
    unlinkSync(lock);
  }
}

const lockPauseMs = 100;
const lockRoundsMax = 100;
const lockStaleMs = 15_000;

function taken(lock: string): boolean {
  try {
    closeSync(openSync(lock, "wx", 0o600));
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

function isStale(lock: string): boolean {
  try {
    return Date.now() - statSync(lock).mtimeMs > lockStaleMs;
  } catch {
    return false;
  }
}

/** The address of the last login. Throws UsageError if there is none. */
export function lastAddress(path: string, command: "login" | "connect"): string {
  try {
    return readLogin(path).url;
  } catch {
    const program = command === "connect" ? " claude" : "";
    throw new UsageError(`missing address of the gateway: \`sluice ${command}${program} https://gateway.example.com\``);
  }
}
