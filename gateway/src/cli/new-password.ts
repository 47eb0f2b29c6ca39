import { createReadStream } from "node:fs";
import type { Environment } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import type { Control } from "#main.ts";
import { CommandFailed, CommandWrong } from "./command-failed.ts";
import { auditSource } from "./open.ts";
import type { Terminal } from "./terminal.ts";

/** How a command is told a password. It is never a word of the command line: every user of the machine can read that. */
export interface PasswordOptions {
  readonly passwordFile?: string;
  readonly passwordStdin?: true;
}

export const passwordFileOption = ["--password-file <path>", "the password is in this file (one line)"] as const;
export const passwordStdinOption = [
  "--password-stdin",
  "the password comes on standard input; on a terminal it is asked for",
] as const;

/** The hash of the password that was told; null: none was, and whoever it is for sets one by a link. */
export async function passwordHashOf(options: PasswordOptions, terminal: Terminal): Promise<string | null> {
  const password = await passwordTold(options, terminal);
  if (password === null) return null;
  const { checkPassword } = await import("#sign-in/index.ts");
  checkPassword(password, "password");
  const { hashPassword } = await import("#storage/index.ts");
  return await hashPassword(password);
}

async function passwordTold(options: PasswordOptions, terminal: Terminal): Promise<string | null> {
  const { passwordFile, passwordStdin } = options;
  if (passwordFile !== undefined && passwordStdin === true) {
    throw new CommandWrong("--password-file and --password-stdin are two ways to say one thing; leave one out");
  }
  if (passwordStdin === true) return await terminal.secret("Password");
  return passwordFile === undefined ? null : await readPasswordFile(passwordFile);
}

const fileBytesMax = 64 * 1024;
const fileMs = 10_000;

async function readPasswordFile(path: string): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  try {
    for await (const piece of createReadStream(path, { signal: AbortSignal.timeout(fileMs) })) {
      size += (piece as Buffer).length;
      if (size > fileBytesMax) throw new CommandFailed(`${path} is larger than ${fileBytesMax / 1024} KiB`);
      pieces.push(piece as Buffer);
    }
  } catch (thrown) {
    if (thrown instanceof CommandFailed) throw thrown;
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown cause";
    throw new CommandFailed(`${path} cannot be read (${code})`);
  }
  return Buffer.concat(pieces)
    .toString("utf8")
    .replace(/\r?\n$/, "");
}

export interface PasswordLink {
  readonly link: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/** A link to a new password, which works once and a day long. An earlier one for the same user ends. */
export async function passwordLink(
  { people, vault, clock }: Control,
  userId: string,
  environment: Environment,
): Promise<PasswordLink> {
  const { randomBytes } = await import("node:crypto");
  const secret = randomBytes(32).toString("base64url");
  const expiresAt = clock.now() + bounds.passwordResetMs;
  await people.createReset(userId, vault.digest(secret), expiresAt, auditSource);
  return { link: `${consoleAddress(environment)}/console/#reset=${secret}`, expiresAt };
}

/** Where a browser finds the console: what is configured, else this machine's own name. */
function consoleAddress({ admin, publicUrl, host, port, tls }: Environment): string {
  const told = admin === null ? publicUrl : admin.url;
  if (told !== null) return told;
  const listens = admin ?? { host, port };
  const everywhere = ["0.0.0.0", "::", "127.0.0.1", "::1", "localhost"].includes(listens.host);
  const name = listens.host.includes(":") ? `[${listens.host}]` : listens.host;
  return `${tls === null ? "http" : "https"}://${everywhere ? "localhost" : name}:${listens.port}`;
}
